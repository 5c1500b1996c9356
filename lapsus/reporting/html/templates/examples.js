for (const browser of document.querySelectorAll(".browser")) {
  const STEP = 20;
  const parts = new Map(); // loaded parts, by key
  const waiting = new Map();
  const list = browser.parentElement.querySelector(".examples");
  const make = (tag, text, ...children) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    element.append(...children);
    return element;
  };
  const options = [...browser.querySelectorAll("[data-part]")].map((span) => ({ ...span.dataset }));

  window.lapsusExamples ??= {};
  for (const { part } of options) window.lapsusExamples[part] = (data) => (parts.set(part, data), waiting.get(part)?.());
  const load = (part) => {
    if (parts.has(part)) return Promise.resolve();
    const inline = document.getElementById(`examples-${part}`);
    if (inline) return Promise.resolve(parts.set(part, JSON.parse(inline.textContent)));
    return new Promise((done, fail) => {
      waiting.set(part, done);
      const script = make("script");
      script.src = `examples/${part}.js`;
      script.onerror = () => fail(new Error(`examples/${part}.js is not beside this page`));
      document.head.append(script);
    });
  };

  const form = make("form");
  const field = (label, control) => {
    form.append(make("label", "", make("span", label), control));
    return control;
  };
  const choice = (label, ...choices) => {
    const select = field(label, make("select"));
    for (const [value, text] of choices) select.append(new Option(text, value));
    return select;
  };
  const search = field("Search", make("input"));
  search.type = "search";
  search.placeholder = "text, prediction or id";
  const families = [...new Set(options.map(({ family }) => family))].filter((family) => options.filter((option) => option.family === family).length > 1);
  const track = choice("Track", ["", "all"], ...families.map((family) => [`${family}.*`, `${family}, all annotators`]), ...options.map(({ part, track }) => [part, track]));
  const selectParts = () => options.filter(({ part, family }) => !track.value || track.value === part || track.value === `${family}.*`).map(({ part }) => part);
  const model = choice("Model", ["", "any"]);
  const editType = choice("Edits", ["", "any"], ["insertion", "insertion"], ["deletion", "deletion"], ["replacement", "replacement"], ["none", "none"]);
  const outcome = choice("Outcome", ["", "any"], ["lost", "lost: correct, then wrong"], ["won", "won: wrong, then correct"], ["changed", "changed, equally correct"], ["unchanged", "unchanged"]);
  form.addEventListener("submit", (event) => event.preventDefault());
  const count = make("p");
  count.className = "small";
  count.setAttribute("role", "status");
  const more = make("button", "More");
  more.type = "button";
  browser.append(form, count);
  list.after(more);
  list.setAttribute("aria-live", "off");
  let linked = null; // the example of a permalink, [part, id]
  let limit = STEP;

  const findEditTypes = (texts) => {
    const types = new Set();
    for (const text of texts) for (const stretch of text) if (typeof stretch !== "string") types.add(stretch[0] ? (stretch[1] ? "replacement" : "deletion") : "insertion");
    return types.size ? types : new Set(["none"]);
  };
  const joinTexts = (texts, side) => texts.map((text) => text.map((stretch) => (typeof stretch === "string" ? stretch : stretch[side])).join("")).join("\n");
  const pairsOf = (data, index) => data.models.filter(({ pair_indices: indices }) => indices[index] >= 0).map(({ name, pairs, pair_indices: indices }) => [name, ...pairs[indices[index]]]);
  const fits = (data, index) => {
    const pairs = pairsOf(data, index).filter(([name]) => !model.value || name === model.value);
    if (model.value && !pairs.length) return false;
    if (outcome.value && !pairs.some(([, , , result]) => result.split(" ")[0] === outcome.value)) return false;
    if (editType.value && !findEditTypes(data.texts[index]).has(editType.value)) return false;
    const query = search.value.trim().toLowerCase();
    if (!query) return true;
    const texts = data.texts[index];
    const messages = (data.transcripts?.[index] ?? []).filter((place) => place >= 0).map((place) => data.messages[place][1]);
    const fields = [data.ids[index], data.golds[index] ?? "", joinTexts(texts, 0), joinTexts(texts, 1), ...messages, ...pairs.flatMap(([, before, after]) => [before ?? "", after ?? ""])];
    return fields.some((text) => text.toLowerCase().includes(query));
  };

  const MAX_WORDS = 400; // of an answer that is compared word by word
  const splitWords = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
  // The stretches of two answers, each a string where both say the same, or else [old, new]; null for short answers.
  const compareAnswers = (before, after) => {
    const [old, now] = [before, after].map((text) => splitWords(text ?? ""));
    if (Math.min(old.length, now.length) < 4 || Math.max(old.length, now.length) > MAX_WORDS) return null;
    const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
    for (let i = old.length - 1; i >= 0; i--) for (let j = now.length - 1; j >= 0; j--) lengths[i][j] = old[i] === now[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    const stretches = [];
    const add = (side, word) => {
      const last = stretches.at(-1);
      if (side === 2) typeof last === "string" ? (stretches[stretches.length - 1] += word) : stretches.push(word);
      else if (Array.isArray(last)) last[side] += word;
      else stretches.push(side ? ["", word] : [word, ""]);
    };
    let [i, j] = [0, 0];
    while (i < old.length || j < now.length) {
      if (i < old.length && j < now.length && old[i] === now[j]) (add(2, old[i]), i++, j++);
      else if (j === now.length || (i < old.length && lengths[i + 1][j] >= lengths[i][j + 1])) add(0, old[i++]);
      else add(1, now[j++]);
    }
    return stretches;
  };
  const appendStretches = (element, stretches) => {
    for (const stretch of stretches) {
      if (typeof stretch === "string") element.append(stretch);
      else {
        if (stretch[0]) element.append(make("del", stretch[0]));
        if (stretch[1]) element.append(make("ins", stretch[1]));
      }
    }
    return element;
  };

  // Calls of functions as they are written in a program; any other text as it is.
  const formatCalls = (text) => {
    if (!text?.startsWith("[{")) return text;
    try {
      const calls = JSON.parse(text);
      if (!calls.every(({ name, arguments: values }) => typeof name === "string" && values instanceof Object)) return text;
      return calls.map(({ name, arguments: values }) => `${name}(${Object.entries(values).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(", ")})`).join("\n");
    } catch {
      return text;
    }
  };
  const MAX_SHOWN = 240; // letters of a message that no noise touches; a longer one is shown on a click
  const formatMessage = (text) => (text.length <= MAX_SHOWN ? make("span", formatCalls(text)) : make("details", "", make("summary", `${formatCalls(text).slice(0, MAX_SHOWN / 3)} …`), formatCalls(text)));

  const renderExample = (part, data, index) => {
    const item = make("li");
    for (const place of data.transcripts?.[index] ?? data.texts[index].map((_, number) => -1 - number)) {
      const [role, text] = place < 0 ? ["user", data.texts[index][-1 - place]] : data.messages[place];
      const words = typeof text === "string" ? formatMessage(text) : appendStretches(make("span"), text);
      words.classList.add("text-of");
      const line = data.transcripts?.[index] ? make("p", "", make("span", role), words) : make("p", "", words);
      if (data.transcripts?.[index]) line.className = place < 0 ? "turn" : "turn other";
      item.append(line);
    }
    const head = make("p");
    head.className = "small";
    const link = make("a", data.ids[index]);
    link.href = `#example=${part}:${encodeURIComponent(data.ids[index])}`;
    link.title = "a link to this example";
    head.append(link, ` · ${data.track}${data.golds[index] === null ? "" : ` · gold: ${formatCalls(data.golds[index])}`}`);
    item.append(head);
    const predictions = make("dl");
    for (const [name, before, after, result] of pairsOf(data, index)) {
      if (model.value && name !== model.value) continue;
      const [word, ...facts] = result.split(" ");
      const [old, now] = [before, after].map(formatCalls);
      const stretches = before === null || old === now ? null : compareAnswers(old, now);
      const ending = facts.find((fact) => fact !== "other");
      const note = ending ? `${word}, ${ending}` : word;
      const prediction = stretches
        ? appendStretches(make("dd"), [...stretches, ` (${note})`])
        : make("dd", before === null ? `${now}` : old === now ? `${now} (${note})` : `${old} → ${now} (${note})`);
      if (facts.includes("other")) prediction.append(" on another text");
      prediction.className = word;
      predictions.append(make("dt", name), prediction);
    }
    item.append(predictions);
    return item;
  };

  const show = async () => {
    const keys = linked ? [linked[0]] : selectParts();
    count.textContent = "Loading …";
    try {
      for (const key of keys) await load(key);
    } catch (error) {
      count.textContent = `${error.message}; keep the page and its folder together.`;
      return;
    }
    for (const key of keys) {
      for (const { name } of parts.get(key).models) {
        if (![...model.options].some(({ value }) => value === name)) model.append(new Option(name, name));
      }
    }
    const matches = [];
    let nLoaded = 0;
    let nExamples = 0;
    for (const key of keys) {
      const data = parts.get(key);
      nLoaded += data.ids.length;
      nExamples += data.n_examples;
      data.ids.forEach((id, index) => {
        if (linked ? id === linked[1] : fits(data, index)) matches.push([key, data, index]);
      });
    }
    const rest = nExamples > nLoaded ? `; ${(nExamples - nLoaded).toLocaleString("en")} more, which fewer models lost, are only in the prediction files` : "";
    count.textContent = linked ? (matches.length ? "One example. " : "There is no such example. ") : `${matches.length.toLocaleString("en")} of ${nLoaded.toLocaleString("en")} examples${rest}.`;
    if (linked) {
      const all = make("button", "Show all");
      all.type = "button";
      all.addEventListener("click", () => {
        history.replaceState(null, "", location.pathname + location.search + `#${browser.closest("section").id}`);
        linked = null;
        show();
      });
      count.append(all);
    }
    list.replaceChildren(...matches.slice(0, limit).map((match) => renderExample(...match)));
    more.hidden = matches.length <= limit;
  };
  const restart = () => {
    linked = null;
    limit = STEP;
    return show();
  };
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(restart, 200);
  });
  for (const select of [track, model, editType, outcome]) select.addEventListener("change", restart);
  more.addEventListener("click", () => {
    limit += STEP;
    show();
  });
  more.hidden = true;
  const followLink = () => {
    const match = /^#example=([^:]+):(.*)$/.exec(location.hash);
    if (!match || !options.some(({ part }) => part === match[1])) return;
    linked = [match[1], decodeURIComponent(match[2])];
    show().then(() => browser.closest("section").scrollIntoView());
  };
  addEventListener("hashchange", followLink);
  browser.filter = async (filters) => {
    track.value = families.includes(filters.family) ? `${filters.family}.*` : (options.find((option) => option.family === filters.family)?.part ?? "");
    if (![...model.options].some(({ value }) => value === filters.model)) model.append(new Option(filters.model, filters.model));
    model.value = filters.model;
    outcome.value = filters.outcome;
    await restart();
  };
  if (options.length) {
    if (options.some(({ part }) => !document.getElementById(`examples-${part}`))) track.value = options[0].part;
    followLink();
    if (!linked && options.some(({ part }) => document.getElementById(`examples-${part}`)?.textContent.includes('"transcripts":'))) {
      if (list.children.length) outcome.value = "lost";
      show();
    }
  }
}
