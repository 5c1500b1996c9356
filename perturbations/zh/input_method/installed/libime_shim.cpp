// Ranked candidates of fcitx5's libime as plain C: the library itself only speaks C++.
#include <libime/core/languagemodel.h>
#include <libime/core/triedictionary.h>
#include <libime/core/userlanguagemodel.h>
#include <libime/pinyin/pinyincontext.h>
#include <libime/pinyin/pinyindictionary.h>
#include <libime/pinyin/pinyinime.h>

#include <cstring>
#include <memory>
#include <string>

struct Engine {
    std::unique_ptr<libime::PinyinIME> ime;
    std::unique_ptr<libime::PinyinContext> context;
};

extern "C" void *lapsus_open(const char *dictionary, const char *model) {
    auto words = std::make_unique<libime::PinyinDictionary>();
    words->load(libime::PinyinDictionary::SystemDict, dictionary, libime::PinyinDictFormat::Binary);
    auto file = std::make_shared<libime::StaticLanguageModelFile>(model);
    auto grams = std::make_unique<libime::UserLanguageModel>(file);
    auto engine = new Engine;
    engine->ime = std::make_unique<libime::PinyinIME>(std::move(words), std::move(grams));
    engine->ime->setNBest(2);
    engine->context = std::make_unique<libime::PinyinContext>(engine->ime.get());
    return engine;
}

extern "C" void lapsus_candidates(void *handle, const char *keys, int limit, char *out, int size) {
    auto &context = static_cast<Engine *>(handle)->context;
    context->clear();
    context->type(keys);
    std::string lines;
    for (const auto &candidate : context->candidates()) {
        if (limit-- <= 0) break;
        lines += candidate.toString() + '\n';
    }
    context->clear();
    std::strncpy(out, lines.c_str(), size - 1);
    out[size - 1] = 0;
}
