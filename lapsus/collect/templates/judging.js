
"use strict";
const { items, ratings } = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const form = $("form"), slider = $("similarity"), state = $("state");
const choices = [...form.querySelectorAll("[name=grammatical]")];
let at = 0;

const answer = () => ({
  item: items[at].item,
  similarity: slider.classList.contains("unset") ? null : Number(slider.value),
  grammatical: choices.find((each) => each.checked)?.value ?? null,
});
const whole = (one) => one.similarity !== null && one.grammatical !== null;

function tell(text, bad = false) {
  state.textContent = text;
  state.classList.toggle("bad", bad);
}

function points(value) {
  slider.classList.toggle("unset", value === null);
  slider.value = value ?? 50;
  $("points").textContent = value ?? "–";
}

function refresh() {
  const judged = items.filter((each) => each.item in ratings).length;
  $("progress").value = judged;
  $("progress").max = Math.max(1, items.length);
  $("count").textContent = `${judged} of ${items.length} judged`;
  $("next").disabled = !whole(answer());
  $("back").disabled = at === 0;
}

function show(place) {
  at = place;
  const over = at >= items.length;
  form.hidden = over;
  $("done").hidden = !over;
  if (over) {
    at = items.length - 1;
    if (at < 0) $("again").hidden = true;
  }
  if (at < 0) return;
  const item = items[at], before = ratings[item.item];
  $("place").textContent = `${at + 1} of ${items.length}`;
  $("text").textContent = item.text;
  $("paraphrase").textContent = item.paraphrase;
  points(before ? before.similarity : null);
  for (const each of choices) each.checked = before !== undefined && (each.value === "yes") === before.grammatical;
  tell(before ? "saved" : "");
  refresh();
}

let saving = Promise.resolve(true);

function save() {
  const one = answer();
  refresh();
  if (!whole(one)) return saving;
  const before = ratings[one.item];
  const yes = one.grammatical === "yes";
  if (before && before.similarity === one.similarity && before.grammatical === yes) return saving;
  tell("saving …");
  const send = async () => {
    try {
      const reply = await fetch("/judgements", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(one),
      });
      if (!reply.ok) throw new Error(await reply.text());
    } catch (error) {
      const why = error instanceof TypeError ? "the program that saves has stopped; start it again, then press Next" : error.message;
      tell(`not saved: ${why}`, true);
      return false;
    }
    ratings[one.item] = { similarity: one.similarity, grammatical: yes };
    if (items[at].item === one.item) tell("saved");
    refresh();
    return true;
  };
  saving = saving.then(send);
  return saving;
}

function unjudged(from) {
  const order = [...items.keys()];
  return [...order.slice(from), ...order.slice(0, from)].find((place) => !(items[place].item in ratings)) ?? items.length;
}

async function next() {
  if (whole(answer()) && (await save())) show(at + 1 < items.length ? at + 1 : unjudged(at));
}

slider.addEventListener("input", () => { points(Number(slider.value)); refresh(); });
slider.addEventListener("change", () => { points(Number(slider.value)); save(); });
slider.addEventListener("pointerup", () => { points(Number(slider.value)); save(); });
for (const each of choices) each.addEventListener("change", save);
form.addEventListener("submit", (event) => { event.preventDefault(); next(); });
$("back").addEventListener("click", () => show(at - 1));
$("again").addEventListener("click", () => show(items.length - 1));
document.addEventListener("keydown", (event) => {
  if (form.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9]$/.test(event.key) || event.key === "End") {
    points(event.key === "End" ? 100 : Number(event.key) * 10);
    save();
  } else if (event.key === "y" || event.key === "n") {
    choices.find((each) => each.value[0] === event.key).checked = true;
    save();
  } else if (event.key === "Enter" && !event.target.closest("button, summary")) {
    event.preventDefault();
    next();
  }
});
document.querySelector("details").open = Object.keys(ratings).length === 0;
show(unjudged(0));
