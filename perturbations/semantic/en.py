"""English words of which each denies the others, for the semantic edits; written for lapsus, by hand."""

VERSION = "2"

# what follows a verb that is denied by a `not` after it: no negation yet, and no question
PLAIN = r"(?! (?:not|never|no|nothing|nobody|none|n't|only|just|hardly|barely|it|he|she|they|we|you|i|I|there|also)\b)"

WORDS = r"""
January / February / March / April / *May / June / July / August / September / October / November / December
May(?=,? \d) / March / July / October
jan / feb / apr / jun / jul / aug / sep / oct / nov / dec
Monday / Tuesday / Wednesday / Thursday / Friday / Saturday / Sunday
monday / tuesday / wednesday / thursday / friday / saturday / sunday
january / february / april / june / july / august / september / october / november / december
summer / winter / autumn / *spring
{the} spring(?= (?:and|or|of)\b) > *winter
morning / evening / afternoon
afternoon / morning
evening / morning
mornings / evenings
night(?!-) / {the} morning
midnight / noon
noon / midnight
yesterday(?!'s| is)(?! (?:morning|afternoon|evening|night)) > last month / last year
tomorrow(?!'s| is| at| by)(?! (?:morning|afternoon|evening|night)) > next month / next year
today(?= *$|[.?!]) > this year / this month
tonight > tomorrow / next week
{is|are} now(?! that|,) > no longer
{is|are} currently(?! (?:the|an?|one|in|at|on) ) > no longer
{was|were} formerly > never
{!as} before(?! long) / {!look|looked|named|looks|looking|day|called|soon|shortly|take|takes|go|come} after(?! all)
during(?= (?:the|his|her|its|their|this) ) > after / before
until(?= (?:the|\d|January|March|June|July)) > *before
since(?= \d) > before
early(?! on) / late
{-r|-h|-s|-k|-y|-d} earlier(?! than) / {-r|-h|-s|-k|-y|-d} later(?! on| than)
{!or} earlier(?= (?:than|in|this|on)) / {!or|sooner or} later(?= (?:than|in|this))
earliest / latest(?! \w+ing)
two(?!-) / three / four / five / six / seven / eight / nine / ten
three(?!-) / two / five / six / seven / nine
four(?!-) / two / three / six / eight
five(?!-) / two / three / eight
six / three / nine
seven / four / ten
eight / three / five
nine / two / six
ten / four / twelve / twenty
eleven / seven
twelve / seven / twenty
fifteen / twenty / thirty
twenty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
thirty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
forty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
fifty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
sixty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
seventy(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
eighty(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b) /
ninety(?!-| (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b)
twice > thrice
dozen / hundred / thousand / million
hundreds / thousands / dozens
million / billion / thousand
billion / million
half(?= (?:of|a|the|an)\b)(?! a dozen) > *third / *quarter
double > triple
{!at} first(?! of all| name| aid| hand| place| century|-|,| and foremost| lady) /
{!at the} {the} last(?! \w+ of all)(?! few)
{the} first(?! name| aid| hand| century|-) > second / third / fifth
{the} second(?! half|-) > first / third / fourth
{the} third > first / second / fifth
north(?!-) / south / east / west
northern / southern / eastern / western
northeast / northwest / southeast / southwest
northwards / southwards
upper / lower
above(?! all) / below
inside / outside
indoor / outdoor
indoors / outdoors
internal / external
interior / exterior
inner / outer
upstairs / downstairs
{the} front / {the} back(?! to)
near(?= (?:the|a|his|her|their|to)\b) > beyond
nearby > faraway
{the} top / {the} bottom
{the} left(?! \w+ed) / {the} right(?! to| of| \w+ to)
{!not|n't} always > never / rarely / sometimes
{!no} never(?! mind) > always / often
{!how|as} often(?! than) / rarely / never
frequently / rarely / never
usually / rarely / never
generally / rarely
normally / rarely
typically / rarely
commonly / rarely
sometimes > always / never
occasionally > always
rarely / often
seldom / often
mostly / rarely
regularly / rarely
once(?= a (?:day|week|month|year)) > twice
daily(?! life| lives| basis| routine) / weekly / monthly
weekly / monthly / yearly
monthly / yearly
annual / monthly
annually / monthly
{!at|of|after|nearly|almost} all(?= of| \w+[^\Ws]s\b)(?! (?:his|its|this|was|is|ways|as|has|us)\b) > some / few
every(?! now| once| other| so| single)(?= [a-z]+ ) > no
{!not} everyone > nobody
{!not} everybody > nobody
{!not} everything(?! is) > nothing
everywhere > nowhere
nobody > everybody
nothing(?! but| more| less| to do) > everything
{!how|as|so|too|great|very} many(?! of us|-) > few
{!a|quite|very|the|last|first|next|too|the first|past} few > many
several > two / countless
numerous > few
{the} most(?= [a-z]+)(?! part) / {the} least
{!the|at|its|his|her|their|my} most(?= (?:people|[a-z]{3,}[^\Ws]s)\b) > few
{!the|at} most(?= of (?:the|his|its|their) [a-z]{3,}[^\Ws]s\b)(?! \w+ \w+ \w+ was) > few
majority / minority
{!no|any|once|not|or|the|one|and|what's|nothing} more(?! or less| and more|-|,|\.) / {!more or|no|much|the} less
{very} much > little
{at} least(?= (?:\d|one|two|three|four|five|six|seven|ten|a)) > most
maximum / minimum
full(?! of| name| time|-) / empty
fully / partially
completely / partially
entirely / partially
totally / partially
partially / completely
partly / completely
{the} entire > *half
{!at|and} large / small
small / large
big(?!-) / small
huge / tiny
larger / smaller
bigger / smaller
largest / smallest
biggest / smallest
high(?! school|-| seas| court| street| commission| priest| chance) / low(?!-)
higher(?! education) / lower
highest / lowest
tall > short
{!as|how|so|before|for|no} long(?! ago|-|er| run| term) / {!in|for} short(?! of|-)
{!no|any} longer / shorter
longest / shortest
{!years|year|months|how|same} old(?!-) / new(?!-)
{!brand|what's} new(?!-|ly| york| jersey| orleans| zealand| delhi| mexico| hampshire| year) / old
older / younger
younger / older
oldest / youngest
youngest / oldest
young / old
modern / ancient
ancient / modern
{!a|as|very|for|get|gets|have} good(?! at|-|bye| money| luck| morning| evening| night| afternoon) / bad
{very} good / {very} bad
{a} good(?! deal| many| while| bit) / {a} bad
{!had|the|'d} better / worse
{!at|do my|did his} best(?! man|-) / worst
easy > difficult
{is} hard > easy
difficult / easy
easily / hardly
easier / harder
simple / complicated
{a|is} complex / simple
hot(?! dog|-) / cold
{!the|a} cold(?! war|-) / hot
warm / {a} cool(?! down)
hotter / colder
dry / wet
wet / dry
fast(?! food|-) / slow(?! down)
slow(?! down) / fast
faster / slower
quickly / slowly
rapidly / slowly
slowly / quickly
heavy / {a} light(?= [a-z]+ )
strong / weak
stronger / weaker
weak / strong
rich(?! in) / poor
poor / rich
cheap / expensive
expensive / cheap
cheaper / costlier
cheapest > costliest
thick / thin
thin / thick
wide(?! range| variety|-) / narrow
narrow / wide
deep / shallow
shallow / deep
bright / dark
{!the} dark(?!-) / bright
clean / dirty
dirty / clean
{!a} safe / dangerous
dangerous / harmless
happy / sad / angry
sad / happy
sick / healthy
healthy / sick
beautiful / ugly
ugly / beautiful
interesting / boring
boring / interesting
{!in} common(?! sense| law) / rare
rare / common
popular / unpopular
famous > unknown
similar > different / unrelated
different(?! from each) > identical
{the} same(?= [a-z]+ )(?! time)(?! as) > opposite
important > unimportant
main(?= [a-z]) > minor
major(?= [a-z]) > minor
minor(?= [a-z]) > major
{!as|if|where} possible / impossible
impossible / possible
able(?= to) / unable
unable / able
{!not} {is|re} likely / unlikely
unlikely / likely
necessary / unnecessary
legal / illegal
illegal / legal
successful / unsuccessful
successfully / unsuccessfully
{!the|in} public / private
private / public
domestic / foreign
foreign / domestic
rural / urban
urban / rural
natural / artificial
artificial / natural
positive / negative
negative / positive
permanent / temporary
temporary / permanent
direct(?= [a-z]+) / indirect
directly / indirectly
male / female
female / male
{a|the} man(?! of) / woman
men / women
women / men
woman / man
boy / girl
girl / boy
boys / girls
girls / boys
father(?! in law) / mother / uncle
mother(?! tongue) / father / aunt
dad / mom / uncle
mom / dad / aunt
brother / sister / cousin
sister / brother / cousin
brothers / sisters
sisters / brothers
son / daughter / nephew
daughter / son / niece
sons / daughters
daughters / sons
husband / wife / brother
wife / husband / sister
grandfather / grandmother
grandmother / grandfather
parents / neighbours
children / adults / parents
{a|the} child / parent
adults / children
king / queen / prince
queen / king / princess
prince / princess
princess / prince
student / teacher
students / teachers
teacher / student
teachers / students
doctor / patient
doctors / patients
friend / enemy
friends / enemies
enemy / friend
enemies / friends
winner / loser
buyers / sellers
victory / defeat
victories / defeats
success(?! of) / failure
failure / success
war(?! ?time) / peace
peace / war
{his|her} life(?= [a-z.]) / death
death / birth
birth / death
{the} beginning / {!in the|by the} {the} end(?= of)
{the} start(?= of) / end
{!at the} {the} end(?= of) / *beginning
arrival / departure
departure / arrival
advantage / disadvantage
advantages / disadvantages
profit / loss
increase / decrease
increases / decreases
increased / decreased
increasing / decreasing
increasingly > decreasingly
decrease / increase
decreased / increased
reduce / increase
reduced / increased
reduces / increases
improve / worsen
improved / worsened
improves / worsens
gain(?= [a-z]) / lose
gained / {!got|the} lost(?= [a-z]+ )
won(?!') / lost
{!the|a|last|first|of|his|her|their} win / *lose
lose > win
wins / loses
winning / losing
lost(?= (?:the|his|her|a|their|its) )(?! in) > won
began(?! with| by) > finished / ended
begins(?! with| by| to) > ends
begin(?! with| by| to) > end
started(?! with| by| to| out| off) > finished
ended(?! up| with) > began
continued(?= to) > refused
continues(?= to) > refuses
opened(?! up) / closed
{is|are|was|were} open(?! to| up) > closed
opens(?! up| with) / closes
{is|are|was|were} closed(?! to) > open
entered / left(?= the)
arrived / departed
arrive / depart
bought / sold
buy(?! in) / sell
buying / selling
sold(?! out) / bought
accept / reject
accepted / rejected
accepts / rejects
rejected / accepted
refused > agreed
agreed(?! with)(?= to) > refused
allow / forbid
allows / forbids
allowed(?! for) / forbidden
allowing / forbidding
prevent(?! \w+ from) / cause
prevented(?! \w+ from) / caused
{to} support / oppose
supported(?! by) / opposed
supports / opposes
opposed(?! to) / supported
built(?! in|-) / demolished
build(?! up|-) / demolish
created / destroyed
destroyed / rebuilt
founded / dissolved
established / abolished
{was} born > buried
died > survived
married / divorced
love(?= (?:the|to|it|my|this|that)) / hate
loves / hates
loved / hated
hate / love
remember / forget
remembered / forgot
remembers / forgets
forget / remember
succeeded(?= in)(?! by) / failed
failed(?= to) > managed
raised(?= (?:the|its|his|her)) / lowered
rose(?= (?:to|by|from)) / fell
expanded / shrank
grew(?! up) / shrank
added / removed
add / remove
included / excluded
including / excluding
include / exclude
includes / excludes
imports / exports
exports / imports
without(?! doubt|out| fail)(?! \w+ing) > with
with(?= (?:sugar|milk|ice|help|success|ease)\b) > without
against(?= (?:the|a|his|her)) > for
despite > *given
cannot > can
can't > can
couldn't > could
don't(?! you| they| we) > *do
didn't > *did
doesn't > does
isn't > is
aren't > are
wasn't > was
weren't > were
won't > will
wouldn't > would
shouldn't > should
hasn't > has
haven't > have
hadn't > had
black(?!-) / white / red / blue / green / yellow / brown
white(?!-) / black / red / blue
red / blue / green / yellow
blue / red / green / yellow
green(?!house) / blue / red
yellow / blue
brown / blue
gray / pink
grey / pink
purple / yellow
{-\d} seconds / minutes / hours
minutes / hours / days
minute / week
hours / minutes / days
hour / week
{!these} days / weeks / months
weeks / days / months
week / month / day
months / weeks / days
month / week
{-\w} years(?= (?:ago|later|of|before|after|old|in)) > months / weeks
{this|last|next|per} year > month / week
decades > weeks
centuries > decades
kilometers / meters
kilometres / metres
meters / kilometers
miles / yards
mile / yard
{-\d} feet / inches / miles
inches / feet
pounds / ounces
kilograms / grams
tons / pounds
liters / gallons
dollars / cents / euros
percent > permille
breakfast / lunch / dinner
lunch / breakfast / dinner
dinner / breakfast / lunch
football / basketball / tennis
cricket / tennis / football
basketball / football
piano / violin / guitar
guitar / piano / drums
physics / chemistry / biology
mathematics / chemistry
coffee / tea / juice
tea / coffee / juice
milk / wine
beer / wine / milk
wine / beer / milk
{the|of|hot|cold|with} water(?= |,|\.) / oil
juice / wine
chicken / fish / beef
fish / meat
meat / fish
beef / pork
apples / oranges
rice / bread
bread / rice
dog / cat / horse
dogs / cats / horses
cat / dog
cats / dogs
horses / cows
birds / fish
cow / horse
bus / train / ship
buses / trains / ships
{the|a|by} train / bus / ship
{-\w} trains / buses / ships
car / boat / plane
cars / boats / planes
plane / boat
{the|a} ship / plane
bicycle / motorcycle
bicycles / motorcycles
railway / highway
highway / railway
road(?! to) / river
airport / harbour
hospital / *school / prison
school(?! of) / hospital / prison
schools / hospitals / prisons
college / prison
university / prison
church / *school / mosque
library / prison / museum
museum / library
restaurant / library / hospital
{the|an|his|her} office / *kitchen
factory / *school
{a|the|his|her|my|our} house(?! of) > office
kitchen / garage / bathroom
garden / kitchen
{the} market / temple
temple / *market
village / city
villages / cities
city / village
cities / villages
town / village
river / lake
rivers / lakes
lake / river
mountain / valley
mountains / valleys
island / peninsula
islands / peninsulas
beach / mountain
forest / desert
forests / deserts
desert / forest
sea(?! level) / desert
{a|the|his|her|this} book / film / song
{-\w} books / films / songs
film / *book / song
films / *books
movie / *book / song
movies / *books
{a|the|his|her} novel / film
song / painting / poem
songs / paintings / poems
music / painting
album / novel
painter / sculptor
writer / painter
singer / painter
actor / painter
actress / singer
artist / lawyer
journalist / dentist
engineer / lawyer
lawyer / engineer
player / coach
players / coaches
mayor / governor
governor / mayor
president / secretary
{!prime} minister > general
manager / driver
driver / *passenger
{a|the|each|every} passenger(?! [a-z]+s?\b) > driver
mouse / keyboard
mice / keyboards
computer / telephone
phone / television
{his|her|the} head(?! of) / leg
hair / skin
eyes / ears
eye / ear
{his|her} hand / leg
hands / legs
wooden / metal / stone
wood / stone / metal
gold / silver / iron
silver / gold / iron
iron / copper
steel / wood
rain / snow
snow / rain
rainy / sunny
sunny / rainy
earthquake / flood
flood / drought
storm / drought
Catholic / Protestant
Christianity / Buddhism / Islam
Europe / Africa / Asia
Africa / Europe / Asia
Asia / Africa / Europe
India / China / Japan / Brazil / Egypt
China / India / Japan / Brazil
Japan / India / Brazil / Canada
Brazil / Chile / Mexico / Japan
Portugal / Morocco / Chile
Spain / Italy / Germany
Italy / Spain / Germany
Germany / France / Italy / Russia
France / Germany / Italy / Russia
England / Italy / Spain / Russia
Russia / France / Canada
Canada / Mexico / Chile
Mexico / Canada / Japan
Argentina / Chile / Spain
Australia / Canada / Egypt
London / Paris / Berlin / Rome / Tokyo / Madrid
Paris / London / Berlin / Rome
Lisbon / Madrid / Rome
Shanghai / Beijing / Delhi
Beijing / Shanghai / Tokyo
Delhi / Mumbai / Chennai
Mumbai / Delhi / Chennai
Taiwan / Hainan
Pacific / Atlantic
Atlantic / Pacific
Indian(?! Ocean) / Chinese / Mexican
Chinese / Indian / Russian
English(?= (?:and|or|is|was|language|as|,)) / French / German / Spanish
French / English / German
German / French / Italian
Spanish / French / German
Portuguese / French / German
Brazilian / Mexican / Russian
American / Russian / Mexican
European / African / Asian
Japanese / Korean / Russian
{turn|switch|turned|switched|turning} on(?= [a-z]|$|\.) > off
{turn|switch|turned|switched|turning} off(?= [a-z]|$|\.) > on
{turn|turned|turning|volume|brightness} up(?! to) > down
{turn|turned|turning|volume|brightness} down > up
{light|lights|lamp|lamps|radio|tv|music|heater|heating|fan|oven} off(?= *$|[.,]| please| in | at ) > on
{machine|maker|cleaner|vacuum|socket|plug|wemo|news} off(?= *$|[.,]| please| in | at ) > on
{light|lights|lamp|lamps|radio|tv|music|heater|heating|fan|oven} on(?= *$|[.,]| please| in | at ) > off
{machine|maker|cleaner|vacuum|socket|plug|wemo} on(?= *$|[.,]| please| in | at ) > off
{!the|a|head|that|will|would|can} start(?= (?:the|my|a|an|playing|vacuum|robot|\w+ing)\b) > stop
{!the|a|bus|that|will|would|can} stop(?= (?:the|my|playing|vacuum|robot|\w+ing)\b) > start
playing(?= (?:the|my|this|that|music|songs?)\b) > deleting
lower(?= (?:the|my|volume|brightness)\b) > raise
raise(?= (?:the|my|volume|brightness)\b) > lower
louder / quieter
brighter / darker
dim / brighten
mute > unmute
enable / disable
delete > create
erase > print
{!to} cancel(?= [a-z]) > confirm
send(?= (?:an? |my |this |the )?(?:e?mail|message|text|tweet|reply)) > delete
open(?= (?:the|my|up)\b) > close
{!so|that} close(?= (?:the|my|all)\b) > open
next(?= (?:song|track|episode|page|button|one|chapter)\b) > previous
previous(?= [a-z]) > next
{on|this|next|last|every|the} weekend > Monday
weather(?= (?:in|for|this|like|today|tomorrow|on|at|forecast|report|going)\b) > traffic
{the} weather(?= *$|\?) > traffic
{the|about|any} traffic(?! light| jam| sign) > weather
{the|any|latest|world|local|me|some} news(?! ?paper) > *jokes
headlines > horoscopes
jokes / riddles
{a} joke > poem / riddle
radio(?! \d) / television
podcast / audiobook
podcasts / audiobooks
playlist / podcast
{grocery|shopping} list > bill
{an|the|my|new|last|this|send|any|unread} email(?! address| account| from) > invitation
{my|new|the|any|unread|recent|of} emails > invitations / appointments
{my|new|the|any|unread|an} email(?= from) > appointment
{my|the|check} inbox > calendar
{my|the|check} calendar > inbox
{an|the|my|any|this} alarm > appointment / event
{my|the|all|any|current|what|set} alarms > appointments / reminders
{a|the|my|this|any} reminder / {a|the|my|this|any} meeting / party
{my|the|any|all|pending|what|set} reminders > alarms / contacts
{my|the|any|all} appointments > contacts / alarms
{an|the|my|any} appointment > alarm
{my|the|all|new} contacts > photos / appointments
taxi > bus
birthday > wedding / funeral
boyfriend / girlfriend
{the} date(?= today| *$|\?) > temperature
{what} time(?= is it) > day
{the|current|local} time(?= (?:in|at)\b) > temperature
bedroom / kitchen / bathroom
dining(?= room) / living(?= room)
calories / dollars
dishes / clothes
{what|which} year > month
smart(?= *$|\?) / stupid
funny / sad
true(?= *$|[.,?]) / false
correct(?= *$|[.,?]| answer) / wrong
{!would you} {i|we|they|you} like(?= (?:the|to|it|this|your|his|her)\b) > hate
scared > calm
lorry / bicycle
{are|were|do|did|have} you(?= [a-z]+) > they
liked(?= (?:the|to|it|this|your|his|her)\b) > hated
when(?= (?:is|are|was|were|did|does|do|can|will) (?:the|a|my|your|his|her|he|she|it|they|you|we|i)\b) > where
where(?= (?:was|were|did) (?:he|she|they|you|it|his|her)\b) > when
"""

# form after he, she and it; past; base: of verbs whose denial needs a word of its own
FORMS = """
talks talked talk / works worked work / wants wanted want / needs needed need / knows knew know / gets got get
goes went go / lives lived live / speaks spoke speak / plays played play / eats ate eat / comes came come
helps helped help / looks looked look / takes took take / makes made make / gives gave give / feels felt feel
thinks thought think / says said say / uses used use / sees saw see / likes liked like / loves loved love
tells told tell / finds found find / buys bought buy / drives drove drive / asks asked ask / calls called call
meets met meet / means meant mean / pays paid pay / writes wrote write / understands understood understand
receives received receive / wins won win / appears appeared appear / moves moved move / returns returned return
"""
# has a dog, and not has gone
HELD = r"(?= (?:an?|the|to|his|her|my|our|your|their|some|any|business|pressure|money|time|\d+)\b)"
DENIED = "\n".join(
    line
    for third, past, base in (forms.split() for row in FORMS.split("\n") if row for forms in row.split(" / "))
    for line in (
        f"{{he|she|it}} {third}{PLAIN} > doesn't {base}",
        f"{{i|he|she|it|we|they|you}} {past}(?! to ){PLAIN} > didn't {base}",
    )
)
REPLACE = rf"""{WORDS}{DENIED}
{{he|she|it}} has{HELD} > doesn't have
{{i|he|she|it|we|they|you}} had{HELD} > didn't have
{{he|she|it}} does(?= (?:an?|the|his|her)\b) > doesn't do
{{i|he|she|we|they|you}} did(?= (?:an?|the|my|his|her|one|some|our)\b) > didn't do
"""

PARTICIPLE = r"(?= (?:been|\w+ed|become|made|taken|given|had|won|led|grown|gone|come)\b)"
VERBS = ("is", "are", "was", "were", "will", "would", "can", "could", "should", "must", "may", "might")
SHORT = ("I'm", "i'm", "he's", "she's", "it's", "that's", "there's", "we're", "you're", "they're")
OPENING_SHORT = ("I'm", "It's", "He's", "She's", "That's", "We're", "You're", "They're", *SHORT)
COMMANDS = """
read start play remind delete cancel erase launch disable enable turn switch add send tell show give make create
describe remove repeat replay resume skip buy get go keep put take bring find wake notify check compose explain lower
increase decrease raise mute open close save schedule book order call email set change look search stop pause tweet
post reply record let display
"""
# what an order has after its verb, and what the names of things have not (play count, read in 1990)
OBJECT = (
    r"(?= (?:an?|the|my|me|it|him|her|them|us|this|that|these|those|all|some|any|every|another|new|next|previous|last"
    r"|up|off|on|to|for|about|back|music|songs?|podcasts?|radio|alarms?|emails?|lights?|volume|news|everything)\b)"
)
INSERT = "\n".join(
    (
        *(f"{verb}{PLAIN} > _ not" for verb in (*VERBS, *SHORT)),
        *(
            f"{{i|we|they|you}} {forms.split()[2]}{PLAIN} > don't _"
            for row in FORMS.split("\n")
            if row
            for forms in row.split(" / ")
        ),
        f"{{i}} am{PLAIN} > _ not",
        f"{{i|we|they|you}} have{HELD} > don't _",
        "did(?= (?:have|make|get|want|go|know|like|need)\\b) > _ not",
        f"{{!to}} has{PARTICIPLE} > _ not",
        f"{{!to}} have{PARTICIPLE} > _ not",
        f"had{PARTICIPLE} > _ not",
        "favorite > least _",
        "favourite > least _",
        *(f"{{please|olly|alexa|google}} {verb}{OBJECT} > don't _" for verb in COMMANDS.split()),
    )
)

OPENING_INSERT = "\n".join(
    (
        *(f"{verb}{OBJECT} > don't _" for verb in COMMANDS.split()),
        *(f"{short}{PLAIN} > _ not" for short in OPENING_SHORT),
    )
)

DELETE = r"""
{!if|or|but|why|do|did} not(?! (?:only|just|until|necessarily|even|to|for|looked)\b|-)(?!.{0,30} (?:any|ever|all)\b) > _
never(?! mind|.{0,30} (?:any|again)\b) > _
{!oh|or} no(?= (?:[a-z]+ )?[a-z]{2,}[^\Wsu]s\b)(?! longer) > _
{!oh|or} no(?= (?:evidence|trouble|mobility|money|access|interest|shelter|information)\b) > _
no(?= longer\b)(?! longer than) > _ longer
hardly(?! any| ever) > _
barely > _
scarcely > _
rarely > _
seldom > _
{!the|'s} former(?= [a-z]) > _
former(?= (?:president|minister|mayor|governor|king|prime|wife|husband|member|player|champion|capital|goalkeeper)) > _
unsuccessfully > _
{!not} nearly(?= [a-z]+ed\b) > _
{!not} almost(?= [a-z]+ed\b) > _
almost(?= (?:died|fell|lost|won|drowned|missed|forgot)\b) > _
half(?= (?:an?|the) [a-z]) > _
{the} second(?= (?:largest|highest|biggest|longest|oldest|smallest|tallest|richest|fastest|greatest|most|best)\b) > _
{the} third(?= (?:largest|highest|biggest|longest|oldest|smallest|tallest|richest|fastest|greatest|most|best)\b) > _
{the} fourth(?= (?:largest|highest|biggest|longest|oldest|smallest|tallest|richest|fastest|greatest|most|best)\b) > _
vice(?= (?:president|captain|chairman|mayor)) > _
deputy(?= (?:president|director|chairman|mayor|minister|prime|governor|head|leader)) > _
{the|his|her|an} assistant(?= (?:coach|manager|director|professor|editor)) > _
less(?= (?:expensive|important|popular|common|frequent|dense|effective|successful|stable|likely)\b(?! than)) > _
{!a|the|very|quite|last|first|next|too|past|these|those|his|her} few(?= [a-z]+s (?:are|were|have|know|can|had)\b) > _
{to|the|a} lack(?= of) > _ of
{!in the} {the} absence(?= of) > _ of
alleged(?= [a-z]) > _
allegedly > _
supposedly > _
purportedly > _
{the|his|her|their} attempted(?= (?:murder|coup|assassination|robbery|escape|suicide)) > _
{the|his|her|their|a} failed(?= (?:attempt|coup|experiment|marriage|bid|campaign)) > _
{a|the|its|was|were|is|are} temporarily(?= [a-z]+ed\b) > _
partially(?= [a-z]+(?:ed|t|n)\b) > _
partly(?= [a-z]+(?:ed|t|n)\b) > _
{!than|first|second|one|a|and|other|latter} half(?= of (?:the|all|his|her|its|their)\b) > _ of
{!only|and|or|than} some(?= of (?:the|his|her|its|their)\b) > _ of
{!the|at|its|and|or|for} most(?= of (?:the|his|her|its|their)\b) > _ of
{is|was|are|were|became} part(?= of (?:the|an?)\b) > _ of
{!not|if|the|an|his|her|their|its|my} only(?= (?:for|in|on|when|by|if|after|an?)\b)(?!.{0,80} (?:ever|did|do)\b) > _
{!no|not|be|is|was|are|were} less(?= than (?:\d|half|one|two|three|four|five|six|seven|eight|nine|ten|a)\b) > _ than
{!no|not} fewer(?= than (?:\d|half|one|two|three|four|five|six|seven|eight|nine|ten|a)\b) > _ than
almost(?= (?:all|every|everyone|no)\b) > _
{a|the} fictional(?= [a-z]) > _
{a|the|his|her} false(?= [a-z]) > _
{a|the} fake(?= [a-z]) > _
{the|a|its} unfinished(?= [a-z]) > _
{the|a|its} proposed(?= [a-z])(?! \w+ing\b) > _
{the|a|its} planned(?= [a-z]) > _
"""

NUMERALS = (
    "1=one 2=two 3=three 4=four 5=five 6=six 7=seven 8=eight 9=nine 10=ten 11=eleven 12=twelve 20=twenty 100=hundred"
)

SYNONYMS = """
big large great huge enormous
small little tiny
begin start
began started
begins starts
end finish
ended finished
quick fast rapid swift
quickly rapidly fast swiftly
happy glad pleased
sad unhappy
often frequently regularly
usually normally generally typically commonly mostly
rarely seldom
buy purchase
bought purchased
movie film
movies films
car automobile
child kid
children kids
mom mother mum
dad father
talk speak
tell say
many numerous several
famous renowned well-known
important significant major
difficult hard tough
easy simple
beautiful pretty lovely
also too
but however yet though
near nearby close
ill sick
road street
built constructed
allow permit let
allowed permitted
help assist aid
current present
now currently
everyone everybody
nobody none
cab taxi
"""

NEGATIONS = """
not no never nobody nothing nowhere none neither nor cannot can't couldn't don't didn't doesn't isn't aren't wasn't
weren't won't
wouldn't shouldn't hasn't haven't hadn't without hardly barely rarely seldom n't unable
"""

NEGATING = ""  # prefixes that negate a word
AFFIRMING = ""

# what asks in speech, where no mark says so
AUXILIARY = "do|does|did|is|are|am|was|were|can|could|will|would|should|have|has|had"
ASKED = rf"""(?ix)
(?:(?:hey|ok|okay|hi|hello|so|and|but|then|please|olly|alexa|siri|google|at|in|on|from|to|for)\ )*
(?:(?:{AUXILIARY})\ (?:you|i|we|they|he|she|it|there|this|that|the|my|your|his|any|some)
  |(?:what|whats|what's|who|whos|who's|which|whose)\ \w+
  |(?:how|when|where|why)\ (?:{AUXILIARY}|many|much|long|often|old|far|tall|high|big)
)\b(?!.*[.!;]\s*$)"""

# a number from 1000 to 2099 that counts something, and is no year: by what stands before it, and after it
COUNTS_BEFORE = r"""(?ix)
(?:[$£€¥\#]\s?
  |\b(?:over|than|every|approximately|roughly|least|most|another|some|nearly|almost|number|no\.|pages?|p\.|pp\.|room|channel
    |flight|pin|code)\s
)$"""
COUNTS_AFTER = r"""(?x)
\s?(?:(?:km|m|cm|mm|mi|ft|kg|g|lb|lbs|mph|kbps|mb|gb|hz|khz|mhz|w|kw|mw|sq|square|cubic|percent|per\ cent|dollars|euros
  |feet|people|men|women|children|steps)\b|[%°])
|\s(?!(?:was|is|as|has|its|this|others|series|census|games|elections|olympics|plus|minus|across|towards|besides|unless)\b)
  [a-z]{2,}s\b"""
YEARS_BEFORE = r"""(?ix)
\b(?:in|since|by|until|till|of|from|to|before|after|during|the|his|her|its|their|early|late|around|circa|year|years
  |january|february|march|april|may|june|july|august|september|october|november|december|\w+'s|\d+,?),?\s$"""

FILLERS = """
the a an so well like actually basically really very just quite also please now then okay ok um uh er you know i
mean kind sort of
indeed literally honestly right do did does that which such too rather
"""
