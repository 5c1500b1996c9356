"""Portuguese words of which each denies the others, for the semantic edits; written for lapsus, by hand.

The words of a line agree in gender and number, so that the rest of the sentence stays grammatical. Words that have
another sense (segunda, dentro, mais) are only replaced where the context shows which is meant.
"""

VERSION = "1"

# before these the negation would have to stand elsewhere, or there is one already
NOT_AFTER = (
    "{!não|nem|nunca|jamais|se|me|te|lhe|lhes|nos|vos|o|a|os|as|isto|ou|sem|só|apenas|somente|também|ninguém|nada|nenhum"
    "|nenhuma|seja|porém|ainda|já|mal} "
)

REPLACE = r"""
janeiro / fevereiro / março / abril / maio / junho / julho / agosto / setembro / outubro / novembro / dezembro
segunda-feira / terça-feira / quarta-feira / quinta-feira / sexta-feira
sábado / domingo
primavera / *verão
verão / inverno / outono
manhã / noite
tarde(?=,|\.| d[eo]) > noite
noite / manhã / *tarde
noites / manhãs / *tardes
{durante o} dia(?! a dia| \d) > noite
ontem / amanhã
hoje(?! em dia) > ontem / *amanhã
dois / três / quatro / cinco / seis / sete / oito / nove / dez
duas / três / quatro / cinco / seis / sete / oito / nove / dez
doze / quinze / vinte / trinta / quarenta / cinquenta
cem / *duzentos / *trezentos
centenas / milhares / dezenas
milhões / bilhões / *milhares
milhares / dezenas
primeiro(?! lugar|-| ministro) > *último / *terceiro / *quinto
primeira(?! vez que|-| vista) > *última / *terceira / *quinta
primeiros > *últimos
primeiras > *últimas
terceiro / {o} quarto(?= [a-zà-ÿ]+) / *quinto / *sexto
terceira / *quarta / *quinta
{o} segundo(?= [a-zà-ÿ]+(?:o|or|ar|al|el)\b) > *terceiro / *quarto
{a} segunda(?= [a-zà-ÿ]+(?:a|ão|ade)\b)(?! classe| mão) > *terceira / *quarta
último(?! lugar) > *primeiro
última > *primeira
últimos > *primeiros
últimas > *primeiras
{a|na|da} metade > *totalidade
dobro / triplo
norte(?!-) / sul(?!-) / leste / oeste
nordeste / noroeste / sudeste / sudoeste
esquerda / direita
esquerdo / {lado} direito(?= [a-z])
acima / abaixo
superior(?! a [\d]) / inferior
superiores / inferiores
dentro(?= d) / fora(?= d[aeo]s? )
fora(?= d[aeo]s? ) / dentro(?= d)
interno / externo
interna / externa
internos / externos
internas / externas
interior / exterior
longe / perto(?= d)
perto(?= d) > longe
próximo(?= (?:a|ao|de|do|da)\b) > distante
próxima(?= (?:a|ao|de|do|da)\b) > distante
próximos(?= (?:a|ao|de|do|da)\b) > distantes
{em} frente(?! a frente) > *trás
antes(?= d)(?! de tudo| de mais) / depois(?= d)
depois(?= d) / antes(?= d)
{anos} depois > antes
{meses} depois > antes
{dias} depois > antes
{semanas} depois > antes
{anos} antes > depois
{meses} antes > depois
{dias} antes > depois
anteriormente / posteriormente
anterior / posterior
anteriores / posteriores
{!ano|anos|dia|dias|meses|semanas|mês|semana|logo} após(?= (?:[oa]s?|uma?|seus?|suas?|ess[ae]|est[ae]) ) > durante
durante(?= (?:o|a|os|as|seu|sua|seus|suas|essa|esse|este|esta) ) > após
início(?= d) / fim(?= d)
{!a|por} fim(?= d)(?! de semana) / início(?= d)
inicialmente / finalmente
inicial / {!ao|no|o} {-[a-zà-ÿ]} final(?=[ ,.])
cedo / *tarde
recentemente > antigamente
atualmente > antigamente
agora(?! que) > antigamente
antigamente > atualmente
futuro / {no} passado
{!para|nem} sempre(?! que) > *nunca
nunca > sempre
jamais > sempre
frequentemente / raramente
geralmente / raramente
normalmente / raramente
comumente / raramente
raramente > frequentemente
ocasionalmente > sempre
muitos(?! d[aeo]s?\b) / poucos(?!\b d[aeo]s?\b)
muitas(?! d[aeo]s?\b) / poucas(?! d[aeo]s?\b)
{!há} muito(?= [a-zà-ÿ]+)(?! mais| menos| bem| obrigad| d[aeo]s?\b) /
{!um} pouco(?= [a-zà-ÿ]+)(?! mais| menos| a pouco| depois| antes| d[aeo]s?\b)
muita / pouca
vários(?! d[aeo]s?\b) > *poucos
várias(?! d[aeo]s?\b) > *poucas
diversos(?= [a-z]) > poucos
diversas(?= [a-z]) > poucas
inúmeros > poucos
inúmeras > poucas
nenhum(?= [a-zà-ÿ]) > algum
nenhuma(?= [a-zà-ÿ]) > alguma
ninguém > todos
nada(?= [a-z])(?! mais| menos| além| a ver| d[aeo]) > tudo
{!de|com} tudo(?= [a-z])(?! isso) > nada
maioria / minoria
maior / menor
maiores / menores
melhor / pior
melhores / piores
{!não|nunca|nada|nem|no|além de|ou|a} mais(?! (?:\w+[aei]r|ou|tarde|uma?s?|un?s|dois|duas|de uma?|cedo|nada)\b) /
{!pelo|ao|a|mais ou|ou|muito|por} menos(?! (?:que|de)\b)
menos(?= de \d) > mais
mínimo / máximo
mínima / máxima
totalmente / parcialmente
completamente / parcialmente
parcialmente > totalmente
inteiramente > parcialmente
principalmente > raramente
grandes(?= \w+os\b) > *pequenos
grandes(?= \w+as\b) > *pequenas
pequeno / *enorme
pequena / *enorme
pequenos / *enormes
pequenas / *enormes
{uma} grande(?! maioria| parte| quantidade| variedade) > *pequena
{um} grande > *pequeno
{a} grande(?! maioria| parte) > *pequena
{o} grande > *pequeno
{um} enorme > minúsculo
{uma} enorme > minúscula
{!do|no|o|em} alto(?! mar| falante) / {!para|de|em|por|o|no|do|e} baixo
{!em|da|a} alta / {!em|da|a} baixa
{!os} altos / {!os} baixos
altas / baixas
{!de} novo / velho
nova / velha
novos / velhos
novas(?! York) / velhas
antigo / moderno
antiga / moderna
antigos / modernos
antigas / modernas
moderno / antigo
{-o} jovem > idoso
{-a} jovem > idosa
jovens > idosos
{!ao} longo(?! d[aeo]) / curto
longa / curta
longos / curtos
longas / curtas
bom > ruim
boa > ruim
bons > ruins
boas > ruins
fácil / difícil
fáceis / difíceis
facilmente / dificilmente
{-o} simples > *complexo
{-a} simples > *complexa
rápido / lento
rápida / lenta
rápidos / lentos
rápidas / lentas
rapidamente / lentamente
{-o} forte > *fraco
{-a} forte > *fraca
fraco > forte
fraca > forte
{-os} fortes > *fracos
{-as} fortes > *fracas
{-o} quente > *frio
{-a} quente > *fria
{-os} quentes > *frios
{-as} quentes > *frias
{!o|a} frio > quente
fria / *quente
frias / *quentes
seco / úmido / molhado
{!a} seca / úmida / molhada
rico(?! em) > pobre
rica(?! em) > pobre
ricos(?! em) > pobres
pesado > leve
pesada > leve
largo / estreito
larga(?! escala) / estreita
profundo / raso
profunda / rasa
{!ao} vivo / morto
viva / morta
{!em} comum > incomum
raro > comum
rara > comum
comuns > incomuns
raros > comuns
raras > comuns
famoso / desconhecido
famosa / desconhecida
famosos / desconhecidos
famosas / desconhecidas
conhecido(?! como| por| pel) > desconhecido
conhecida(?! como| por| pel) > desconhecida
igual / diferente
iguais / diferentes
{-\w} diferentes > iguais
{-\w} semelhante(?! a| ao) > diferente
semelhantes > diferentes
importante(?! \w+r\b) > insignificante
importantes > insignificantes
{-o} principal > *secundário
{-a} principal > *secundária
{-os} principais > *secundários
{-as} principais > *secundárias
possível(?= \w+r\b) > impossível
impossível > possível
capaz(?= de) > incapaz
capazes(?= de) > incapazes
incapaz > capaz
incapazes > capazes
legal / ilegal
necessário > desnecessário
necessária > desnecessária
seguro / perigoso
segura / perigosa
{!o|do|ao|no|um|de|em|seu} {-[a-zà-ÿ]} público / privado
{!em} pública / privada
públicos / privados
públicas / privadas
direto / indireto
direta / indireta
diretamente / indiretamente
{-[a-zà-ÿ]} nacional / {-[a-zà-ÿ]} internacional / *municipal
nacionais / internacionais
urbano / rural
urbana / rural
urbanos / rurais
urbanas / rurais
rural / *urbano
rurais / *urbanos
{-[a-zà-ÿ]} natural(?! d[aeo]) > artificial
naturais > artificiais
artificial > natural
temporário / permanente
temporária / permanente
positivo / negativo
positiva / negativa
positivos / negativos
positivas / negativas
ativo / inativo
oficial > clandestino
masculino / feminino
masculina / feminina
macho / *fêmea
machos / *fêmeas
fêmeas > *machos
homem / *menino
homens > *crianças / *idosos
mulheres(?! e homens) > *crianças
garotos > *homens
garotas > *mulheres
meninos > *homens
meninas > *mulheres
pai / irmão / avô / filho / tio
mãe / irmã / avó / filha / tia
filho(?! d[ao]s? (?:puta)) / pai / irmão / sobrinho
filha / mãe / irmã / sobrinha
marido / pai / irmão
esposa / mãe / irmã
irmãos > primos
irmãs > primas
rei / príncipe
rainha / princesa
aluno / professor
alunos / professores
professor(?= |,|\.) > aluno
professores > alunos
médico / paciente
médicos / pacientes
amigo / inimigo
amigos / inimigos
vencedor / perdedor
compradores / vendedores
crianças(?! e) > *avós
adultos > *bebês
vitória / derrota
vitórias / derrotas
derrota > vitória
sucesso(?! d[aeo]) / fracasso
guerra(?= ) / paz
nascimento / *falecimento
{da|a} vida(?! d[ao] ) / morte
{da|a} morte > *vida
aumento / redução
entrada / saída
chegada / {!da|uma|na|a} partida(?! d[aeo] futebol)
abertura / *destruição
vantagem / desvantagem
vantagens / desvantagens
lucro / prejuízo
força(?=[,.]) > fraqueza
{!na|em|de} verdade > mentira
aumentar / diminuir / reduzir
diminuir / aumentar
reduzir / aumentar
aumentou / diminuiu
diminuiu / aumentou
reduziu / aumentou
aumenta / diminui
aumentam / diminuem
aumentaram / diminuíram
aumentando / diminuindo
reduzindo / aumentando
melhorar / piorar
melhorou / piorou
melhorando / piorando
ganhar / perder
ganhou / perdeu
ganharam / perderam
ganhando / perdendo
venceu / *perdeu
venceram / *perderam
perdeu(?! para) > ganhou
perderam(?! para) > ganharam
conquistou / perdeu
conquistaram / *perderam
começou(?! com| por| a ) / terminou(?! com| por| em)
começaram(?! com| por| a ) / *terminaram
começa(?! com| por| a ) / termina(?! com| por| em)
começam(?! com| por| a ) / terminam(?! com| por| em)
começando(?! com| por| a ) / terminando
começar(?! com| por| a ) / terminar
terminou(?! com| por| em) > começou
iniciou / encerrou
iniciada / encerrada
iniciado / encerrado
iniciar / encerrar
encerrou / iniciou
abrir / fechar
abriu / fechou
aberto / fechado
aberta / fechada
abertos / fechados
abertas / fechadas
abre / fecha
fechado / aberto
fechada / aberta
entrar / sair
entrou(?= n[ao]) > saiu
chegou(?! a [a-z]+r\b) / *partiu
chegaram / *partiram
subir / descer
subiu / desceu
subindo / descendo
comprar / vender
comprou / vendeu
compraram / venderam
comprado / vendido
comprada / vendida
comprados / vendidos
vendido > comprado
vendida > comprada
vendidos > comprados
vendidas > compradas
vendeu > comprou
venda / compra
vendas / compras
aceitar / recusar
aceitou / recusou
aceitaram / recusaram
aceito / rejeitado
aceita / rejeita
recusou > aceitou
rejeitou > aceitou
permitir / impedir
permite / impede
permitem / impedem
permitiu / impediu
permitido / proibido
permitida / proibida
permitidos / proibidos
permitindo / impedindo
proibido > permitido
proibida > permitida
proibiu > permitiu
evitar > provocar
evitou > provocou
apoiar / combater
apoiou / combateu
apoiado / combatido
construir / demolir
construiu / demoliu
construído / demolido
construída / demolida
construídos / demolidos
construídas / demolidas
destruído > construído
destruída > construída
criou / destruiu
criado(?= ) / destruído
criada(?= ) / destruída
fundado / dissolvido
fundada / dissolvida
fundou / dissolveu
nasceu / *morreu
nascido / falecido
nascida / falecida
nasceram / *morreram
morreu > nasceu
morreram > sobreviveram
casou > divorciou
casou-se > divorciou-se
casado / divorciado
casada / divorciada
lembrar > esquecer
lembra > esquece
amar / odiar
amava / odiava
gosta(?= d) > desgosta
continuou(?! send) > parou(?! de)
continua(?= a [a-z]+r\b) > deixa
mostrou > escondeu
revelou > escondeu
revelar > esconder
ligado / desligado
ligada / desligada
incluindo > excluindo
inclui > exclui
incluem > excluem
incluído / excluído
incluída / excluída
incluídos / excluídos
importação / exportação
exportação / importação
importações / exportações
importar / exportar
cresceu / encolheu
crescimento > declínio
expandiu / reduziu
expandir / reduzir
sem(?! que| dúvida| [a-zà-ÿ]+[aei]r\b| precedentes| fim) > com
com(?= (?:açúcar|leite|gelo|água|sal|sucesso|ajuda|frequência|facilidade|álcool)\b) > sem
contra(?= (?:o|a|os|as) [a-z]) > com
apenas(?= \d) > *quase
preto / branco / vermelho / *azul / *verde / amarelo
preta / branca / vermelha / *azul / amarela
pretos / brancos / vermelhos / *azuis / *verdes / amarelos
pretas / brancas / vermelhas / *azuis / amarelas
verde / azul / *marrom
marrom > azul / verde
cinza > azul / verde
verdes / azuis
loiro / moreno / ruivo
loira / morena / ruiva
{-\d} segundos / minutos / horas
minutos / horas / *dias
{-\d} horas / *minutos / *dias
dias / semanas / meses
semanas / meses / dias
meses / semanas / *anos
{-\d} anos(?! 19| 20) / *meses
{dois} anos > *meses
{três} anos > *meses
semana(?! santa) / *mês
mês > *ano
{por} ano > *mês
década > *semana
décadas > *semanas
séculos > *décadas
quilômetros / metros / centímetros
{-[\dsl]} metros / quilômetros
centímetros / metros
milímetros / centímetros
quilos / gramas / toneladas
quilogramas / gramas
litros / mililitros
{-\d} pés > *metros
milhas > *metros
polegadas > *metros
dólares / euros / libras
{-\d} reais > euros
futebol / basquete / vôlei / tênis
piano / violão / violino
guitarra / flauta / bateria
{de|da} física / química / biologia
matemática / química / biologia
café(?! da manhã) / chá / vinho
chá / café / vinho
leite / vinho
cerveja / *água
vinho / leite
suco / *vinho
sucos / *vinhos
abacate / *tomate
abacaxi / *abacate
abacaxis / *abacates
maçã / *laranja
{-[da]} laranja > maçã
carne > fruta
peixe / frango
peixes / *pássaros
cachorro / gato / cavalo
cavalos / bois / cães
gatos / cães
{o|um|do|no} ônibus(?! espacial) > *trem / *avião
{os|dos|nos} ônibus > *trens / *aviões
trem / *avião / *navio
trens / *aviões / *navios
carro / *barco / *avião
carros / *barcos / *aviões
avião / *navio
aviões / *navios
navio / *avião
bicicleta / *motocicleta
rodovia / ferrovia
rodovias / ferrovias
ferrovia / rodovia
ferrovias / rodovias
estrada / *ferrovia
aeroporto / *porto
hospital / *mercado / *museu
escola(?! d[eo] samba) / igreja / prisão
escolas(?! d[eo] samba) / igrejas / prisões
igreja / escola
universidade > *prisão
museu / *hospital
biblioteca / *prisão
{-[a-z]} rio(?! de| Grande) / lago
{-[a-z]} lago / rio
{-[a-z]} lagos > rios
montanha / planície
montanhas / planícies
ilha / península
ilhas / penínsulas
praia / montanha
praias / montanhas
floresta / *cidade
florestas / *cidades
deserto / oceano
{!a} cidade(?! d[aeo]) > aldeia
cidades > aldeias
livro / filme / *jornal
livros / filmes / *jornais
filme / livro
filmes / livros
{-[mo]} romance > *poema
canção / *pintura
{-[sa]} músicas > *pinturas
pintor / escultor / poeta
pintores / escultores
escritor / pintor / músico
ator / cantor / pintor
atriz / cantora / pintora
cantora / pintora
cantor / pintor
jornalista / *dentista
arquiteto / músico
jogador / *treinador
jogadores / *treinadores
treinador > *jogador
prefeito / *governador
governador / *prefeito
presidente(?= d) > secretário
ministro > *general
mouse / *teclado
mouses / *teclados
computador / *telefone
cabeça / *perna
cabelo / *nariz
olhos / *ouvidos
{!de|à} mão(?! de) / perna
mãos / pernas
madeira / *pedra
ouro / *ferro
prata / *ferro
ferro / *madeira
aço / *madeira / *vidro
vidro / *metal
plástico / *vidro
lã / *seda / *couro
chuva / *neve
neve / *chuva
terremoto / *incêndio
tempestade / *seca
católica / protestante
católico / protestante
catolicismo / protestantismo / budismo
inglês / francês / alemão / espanhol / italiano / russo / japonês / *chinês
francês / inglês / alemão / italiano / japonês
espanhol / francês / alemão / italiano
alemão / francês / italiano
italiano / francês / alemão
{-[a-z]} português / francês / alemão
{-[a-z]} portuguesa / francesa / alemã / italiana
inglesa / francesa / alemã
francesa / inglesa / alemã
brasileiro / argentino / chileno / mexicano
brasileira / argentina(?= ) / chilena / mexicana
brasileiros / argentinos / mexicanos
portugueses / franceses / italianos
americano / russo / australiano
americana / russa / australiana
americanos / russos / australianos
europeu / africano / asiático
europeia / africana / asiática
europeus / africanos / asiáticos
europeias / africanas / asiáticas
Europa / África / Ásia
África(?! do Sul) / Europa / Ásia
Portugal / Marrocos / Israel / Cuba
Brasil / Chile / México / Peru / Egito
Argentina / Espanha / Alemanha / Itália / China / Rússia / França
Espanha / Argentina / Alemanha / Itália / China
Alemanha / Argentina / Espanha / Itália / China
França / Itália / Espanha / Rússia
Inglaterra / Itália / Espanha / Rússia
Itália / França / Alemanha
China / Rússia / Índia
Japão / Chile / Canadá / México
Canadá / Chile / Japão
México / Canadá / Japão
Uruguai / Chile / Japão
Paraguai / Chile / Japão
Londres / Paris / Berlim / Roma / Tóquio / Madri / Moscou
Paris / Londres / Berlim / Roma
Lisboa / Madri / Coimbra / Braga
Coimbra / Braga / Évora
Curitiba / Salvador / Recife / Fortaleza
Pacífico / Atlântico / Índico
"""

FINITE = (
    "é são foi foram era eram está estão estava estavam tem têm tinha tinham pode podem podia podiam deve devem"
    " devia deviam será serão seria seriam fica ficam ficou ficaram havia existe existem existia possui possuem"
    " possuía permite permitem inclui incluem contém ocorre ocorrem ocorreu venceu recebeu perdeu morreu nasceu"
    " escreveu vendeu sabe sabem quer querem faz fazem fez fizeram teve tiveram deu veio disse"
)
INSERT = "\n".join(
    f"{NOT_AFTER}{verb}(?!-| não| que) > não _" for verb in (*FINITE.split(), r"[a-zà-ÿ]{3,}(?:ou|aram|avam|ava)\b")
)

OPENING_INSERT = ""

DELETE = r"""
não(?! só| apenas| somente| obstante| tanto| mais| é\?|-) > _
nunca(?! mais| antes) > _
jamais > _
quase(?= (?:morr|perd)) > _
mal(?= [a-z]+(?:ia|ava|iam|avam)\b) > _
raramente > _
"""

NUMERALS = (
    "1=um 1=uma 2=dois 2=duas 3=três 4=quatro 5=cinco 6=seis 7=sete 8=oito 9=nove 10=dez 12=doze 20=vinte 100=cem"
)

SYNONYMS = """
grande enorme vasto
pequeno minúsculo
bonito belo lindo
começar iniciar
começou iniciou
terminar acabar encerrar
terminou acabou encerrou
carro automóvel
ônibus autocarro
trem comboio
suco sumo
telefone celular telemóvel
comum frequente habitual
rápido veloz ligeiro
rapidamente depressa velozmente
feliz contente alegre
muito bastante
muitos vários diversos
muitas várias diversas
somente apenas só
também igualmente
porém mas contudo todavia entretanto
após depois
perto próximo
novo recente
antigo velho
antiga velha
famoso célebre conhecido
casa residência lar
menino garoto rapaz
menina garota moça
morrer falecer
morreu faleceu
construir edificar
usar utilizar
usado utilizado
usada utilizada
frequentemente geralmente normalmente comumente
falar conversar
"""

NEGATIONS = """
não nunca jamais nem ninguém nada nenhum nenhuma nenhuns nenhumas sem tampouco
"""

NEGATING = ""  # prefixes that negate a word
AFFIRMING = ""

FILLERS = """
o a os as um uma uns umas de do da dos das e que se já aí então pois bem muito realmente mesmo assim tipo né sabe
olha também ainda
próprio próprias própria próprios próprio tão bastante
"""

ASKED = COUNTS_BEFORE = COUNTS_AFTER = YEARS_BEFORE = r"(?!)"  # matches nothing: marks tell, every number is a year
