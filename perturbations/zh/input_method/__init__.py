"""Pinyin input methods: letters in, ranked Chinese text out."""
