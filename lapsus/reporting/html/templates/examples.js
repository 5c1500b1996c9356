for (const browser of document.querySelectorAll(".browser")) {
  const STEP = 20;
  const parts = new Map(); // what was loaded, by key
  const waiting = new Map();
  const list = browser.parentElement.querySelector(".examples");
  const make = (tag, text, ...inside) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    made.append(...inside);
    return made;
  };
  const options = [...browser.querySelectorAll("[data-part]")].map((each) => ({ ...each.dataset }));

  window.lapsusExamples ??= {};
  for (const { part } of options) window.lapsusExamples[part] = (data) => (parts.set(part, data), waiting.get(part)?.());
  const load = (part) => {
    if (parts.has(part)) return Promise.resolve();
    const inside = document.getElementById(`examples-${part}`);
    if (inside) return Promise.resolve(parts.set(part, JSON.parse(inside.textContent)));
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
  search.placeholder = "text, answer or id";
  const families = [...new Set(options.map(({ family }) => family))].filter((family) => options.filter((each) => each.family === family).length > 1);
  const track = choice("Track", ["", "all"], ...families.map((family) => [`${family}.*`, `${family}, everyone`]), ...options.map(({ part, track }) => [part, track]));
  const chosen = () => options.filter(({ part, family }) => !track.value || track.value === part || track.value === `${family}.*`).map(({ part }) => part);
  const model = choice("Model", ["", "any"]);
  const kind = choice("Edits", ["", "any"], ["put in", "put in"], ["taken out", "taken out"], ["replaced", "replaced"], ["none", "none"]);
  const outcome = choice("Answer", ["", "any"], ["lost", "lost: right, then wrong"], ["won", "won: wrong, then right"], ["changed", "changed, as right or wrong as before"], ["kept", "kept"]);
  form.addEventListener("submit", (event) => event.preventDefault());
  const count = make("p");
  count.className = "small";
  count.setAttribute("role", "status");
  const more = make("button", "More");
  more.type = "button";
  browser.append(form, count);
  list.after(more);
  list.setAttribute("aria-live", "off");
  let only = null; // the example of a permalink, [part, id]
  let limit = STEP;

  const kinds = (texts) => {
    const found = new Set();
    for (const text of texts) for (const stretch of text) if (typeof stretch !== "string") found.add(stretch[0] ? (stretch[1] ? "replaced" : "taken out") : "put in");
    return found.size ? found : new Set(["none"]);
  };
  const plain = (texts, side) => texts.map((text) => text.map((each) => (typeof each === "string" ? each : each[side])).join("")).join("\n");
  const pairsOf = (data, place) => data.models.filter(({ said }) => said[place] >= 0).map(({ name, pairs, said }) => [name, ...pairs[said[place]]]);
  const fits = (data, place) => {
    const pairs = pairsOf(data, place).filter(([name]) => !model.value || name === model.value);
    if (model.value && !pairs.length) return false;
    if (outcome.value && !pairs.some(([, , , each]) => each.split(" ")[0] === outcome.value)) return false;
    if (kind.value && !kinds(data.texts[place]).has(kind.value)) return false;
    const wanted = search.value.trim().toLowerCase();
    if (!wanted) return true;
    const texts = data.texts[place];
    const held = [data.ids[place], data.golds[place] ?? "", plain(texts, 0), plain(texts, 1), ...pairs.flatMap(([, before, after]) => [before ?? "", after ?? ""])];
    return held.some((text) => text.toLowerCase().includes(wanted));
  };

  const shown = (part, data, place) => {
    const item = make("li");
    for (const text of data.texts[place]) {
      const line = make("p");
      line.className = "text-of";
      for (const each of text) {
        if (typeof each === "string") line.append(each);
        else {
          if (each[0]) line.append(make("del", each[0]));
          if (each[1]) line.append(make("ins", each[1]));
        }
      }
      item.append(line);
    }
    const head = make("p");
    head.className = "small";
    const link = make("a", data.ids[place]);
    link.href = `#example=${part}:${encodeURIComponent(data.ids[place])}`;
    link.title = "a link to this example";
    head.append(link, ` · ${data.track}${data.golds[place] === null ? "" : ` · right answer: ${data.golds[place]}`}`);
    item.append(head);
    const said = make("dl");
    for (const [name, before, after, each] of pairsOf(data, place)) {
      if (model.value && name !== model.value) continue;
      const [word, other] = each.split(" ");
      const told = make("dd", before === null ? `${after}` : before === after ? `${after} (${word})` : `${before} → ${after} (${word})`);
      if (other) told.append(" on another text");
      told.className = word;
      said.append(make("dt", name), told);
    }
    item.append(said);
    return item;
  };

  const show = async () => {
    const wanted = only ? [only[0]] : chosen();
    count.textContent = "Reading …";
    try {
      for (const part of wanted) await load(part);
    } catch (error) {
      count.textContent = `${error.message}; keep the page and its folder together.`;
      return;
    }
    for (const part of wanted) {
      for (const { name } of parts.get(part).models) {
        if (![...model.options].some(({ value }) => value === name)) model.append(new Option(name, name));
      }
    }
    const found = [];
    let held = 0;
    let every = 0;
    for (const part of wanted) {
      const data = parts.get(part);
      held += data.ids.length;
      every += data.of;
      data.ids.forEach((id, place) => {
        if (only ? id === only[1] : fits(data, place)) found.push([part, data, place]);
      });
    }
    const left = every > held ? `; ${(every - held).toLocaleString("en")} more, on which fewer models lost the answer, are only in the files of predictions` : "";
    count.textContent = only ? (found.length ? "One example. " : "There is no such example. ") : `${found.length.toLocaleString("en")} of ${held.toLocaleString("en")} examples${left}.`;
    if (only) {
      const all = make("button", "Show all");
      all.type = "button";
      all.addEventListener("click", () => {
        history.replaceState(null, "", location.pathname + location.search + `#${browser.closest("section").id}`);
        only = null;
        show();
      });
      count.append(all);
    }
    list.replaceChildren(...found.slice(0, limit).map((each) => shown(...each)));
    more.hidden = found.length <= limit;
  };
  const changed = () => {
    only = null;
    limit = STEP;
    return show();
  };
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(changed, 200);
  });
  for (const select of [track, model, kind, outcome]) select.addEventListener("change", changed);
  more.addEventListener("click", () => {
    limit += STEP;
    show();
  });
  more.hidden = true;
  const follow = () => {
    const found = /^#example=([^:]+):(.*)$/.exec(location.hash);
    if (!found || !options.some(({ part }) => part === found[1])) return;
    only = [found[1], decodeURIComponent(found[2])];
    show().then(() => browser.closest("section").scrollIntoView());
  };
  addEventListener("hashchange", follow);
  browser.filter = async (wanted) => {
    track.value = families.includes(wanted.family) ? `${wanted.family}.*` : (options.find((each) => each.family === wanted.family)?.part ?? "");
    if (![...model.options].some(({ value }) => value === wanted.model)) model.append(new Option(wanted.model, wanted.model));
    model.value = wanted.model;
    outcome.value = wanted.outcome;
    await changed();
  };
  if (options.length) {
    if (options.some(({ part }) => !document.getElementById(`examples-${part}`))) track.value = options[0].part;
    follow();
  }
}
