"""Tiny models made on the spot: random weights, or trained for a second on what a test asks of them."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

torch.set_num_threads(1)  # tiny models lose more by waiting for each other than they win

CHAT = "{% for message in messages %}<s>{{ message['role'] }} {{ message['content'] }}</s>{% endfor %}{% if add_generation_prompt %}<s>assistant {% endif %}"


def tokenizer(texts, *, pair=False, chat=None, length=None):
    """Return a tokenizer of words (and single characters beyond ASCII) that knows these texts."""
    before = (
        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Split("", "isolated")])
        if pair == "letters"
        else pre_tokenizers.Whitespace()
    )
    words = dict.fromkeys(word for text in texts for word, _ in before.pre_tokenize_str(text))
    vocab = {word: number for number, word in enumerate(["<pad>", "<unk>", "<s>", "</s>", *words])}
    made = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    made.pre_tokenizer = before
    if chat is None:
        made.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 2), ("</s>", 3)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        chat_template=chat, **({"model_max_length": length} if length else {}),
    )  # fmt: skip


def bert(family, words, folder, *, labels=None, length=64):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=length, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(labels or ["LABEL_0", "LABEL_1"])), label2id={name: i for i, name in enumerate(labels or ["LABEL_0", "LABEL_1"])},
    )  # fmt: skip
    model = family(config)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return model


def classifier(words, folder, labels, examples=(), **options):
    """Save a classifier; train it on (text, label) examples, where there are any."""
    model = bert(BertForSequenceClassification, words, folder, labels=labels, **options)
    if examples:
        batch = words([text for text, _ in examples], padding=True, return_tensors="pt")
        fit(model, batch | {"labels": torch.tensor([labels.index(label) for _, label in examples])}, folder)
    return model


def tagger(words, folder, tags, examples):
    model = bert(BertForTokenClassification, words, folder, labels=tags)
    batch = words([tokens for tokens, _ in examples], is_split_into_words=True, padding=True, return_tensors="pt")
    labels = torch.full(batch["input_ids"].shape, -100)
    for row, (_, own) in enumerate(examples):
        for place, word in enumerate(batch.word_ids(row)):
            if word is not None:
                labels[row, place] = tags.index(own[word])
    fit(model, dict(batch) | {"labels": labels}, folder)
    return model


def reader(words, folder, **options):
    return bert(BertForQuestionAnswering, words, folder, **options)


def fit(model, batch, folder, steps=60):
    batch = {name: value for name, value in batch.items() if name != "token_type_ids"} | (
        {"token_type_ids": batch["token_type_ids"]} if "token_type_ids" in batch else {}
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)


def causal(words, folder, *, length=512):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=length, bos_token_id=2, eos_token_id=3, pad_token_id=0,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        parameter.data.mul_(3)  # random, but sure of itself
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return model


def seq2seq(words, folder):
    torch.manual_seed(0)
    config = T5Config(  # type: ignore[call-arg] # its stubs lack one
        vocab_size=len(words),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        eos_token_id=3,
        pad_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return model
