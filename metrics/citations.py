"""The papers that the metrics come from, as BibTeX."""

PARTE = """\
@inproceedings{verma-etal-2023-evaluating,
  title = "Evaluating Paraphrastic Robustness in Textual Entailment Models",
  author = "Verma, Dhruv and Lal, Yash Kumar and Sinha, Shreyashee and Van Durme, Benjamin and Poliak, Adam",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics
               (Volume 2: Short Papers)",
  pages = "880--892",
  year = "2023",
}"""

DIALECT = """\
@inproceedings{sun-etal-2023-dialect,
  title = "Dialect-robust Evaluation of Generated Text",
  author = "Sun, Jiao and Sellam, Thibault and Clark, Elizabeth and Vu, Tu and Dozat, Timothy and Garrette, Dan and
            Siddhant, Aditya and Eisenstein, Jacob and Gehrmann, Sebastian",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics
               (Volume 1: Long Papers)",
  pages = "6010--6028",
  year = "2023",
}"""

NATURE = """\
@inproceedings{alfonso-hermelo-etal-2021-nature,
  title = "{NATURE}: Natural Auxiliary Text Utterances for Realistic Spoken Language Evaluation",
  author = "Alfonso-Hermelo, David and Rashid, Ahmad and Ghaddar, Abbas and Langlais, Philippe and
            Rezagholizadeh, Mehdi",
  booktitle = "Proceedings of the NeurIPS Track on Datasets and Benchmarks",
  year = "2021",
}"""

READIN = """\
@inproceedings{si-etal-2023-readin,
  title = "{READIN}: A {C}hinese Multi-Task Benchmark with Realistic and Diverse Input Noises",
  author = "Si, Chenglei and Zhang, Zhengyan and Chen, Yingfa and Wang, Xiaozhi and Liu, Zhiyuan and Sun, Maosong",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics
               (Volume 1: Long Papers)",
  pages = "8272--8285",
  year = "2023",
}"""

SLURP = """\
@inproceedings{bastianelli-etal-2020-slurp,
  title = "{SLURP}: A Spoken Language Understanding Resource Package",
  author = "Bastianelli, Emanuele and Vanzo, Andrea and Swietojanski, Pawel and Rieser, Verena",
  booktitle = "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing",
  pages = "7252--7262",
  year = "2020",
}"""

SQUAD = """\
@inproceedings{rajpurkar-etal-2018-know,
  title = "Know What You Don't Know: Unanswerable Questions for {SQ}u{AD}",
  author = "Rajpurkar, Pranav and Jia, Robin and Liang, Percy",
  booktitle = "Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics",
  pages = "784--789",
  year = "2018",
}"""

CMRC2018 = """\
@inproceedings{cui-etal-2019-span,
  title = "A Span-Extraction Dataset for {C}hinese Machine Reading Comprehension",
  author = "Cui, Yiming and Liu, Ting and Che, Wanxiang and Xiao, Li and Chen, Zhipeng and Ma, Wentao and
            Wang, Shijin and Hu, Guoping",
  booktitle = "Proceedings of the 2019 Conference on Empirical Methods in Natural Language Processing",
  pages = "5886--5891",
  year = "2019",
}"""

CHRF = """\
@inproceedings{popovic-2015-chrf,
  title = "chr{F}: character n-gram {F}-score for automatic {MT} evaluation",
  author = "Popovi{\\'c}, Maja",
  booktitle = "Proceedings of the Tenth Workshop on Statistical Machine Translation",
  pages = "392--395",
  year = "2015",
}"""
