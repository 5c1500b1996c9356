for (const matrix of document.querySelectorAll(".drops")) {
  const article = matrix.closest("article");
  const panel = article.querySelector(".drill");
  const make = (tag, text, ...children) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    element.append(...children);
    return element;
  };
  const titles = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const rows = (section, fits) => {
    const table = article.querySelector(`section[id$="-${section}"] table.sortable`);
    return table ? [table, [...table.tBodies[0].rows].filter((row) => fits(row.cells[0].dataset.sort, row.cells[1].dataset.sort))] : [null, []];
  };
  const contents = (model, family, href) => {
    const title = make(article.querySelector("h2.dataset") ? "h3" : "h2", `${model} on ${family}`);
    const [overview, [line]] = rows("overview", (name, noise) => name === model && noise === family);
    const facts = make("dl");
    if (line) {
      titles(overview).forEach((name, column) => {
        if (column > 1) facts.append(make("div", "", make("dt", name), make("dd", "", ...[...line.cells[column].childNodes].map((node) => node.cloneNode(true)))));
      });
    }
    const parts = [title, facts];
    const [tracks, members] = rows("annotators", (name, track) => name === model && (track === family || (track.startsWith(`${family}.`) && /^\d+$/.test(track.slice(family.length + 1)))));
    if (members.length > 1) {
      const table = make("table", "", make("thead", "", make("tr", "", ...titles(tracks).slice(1).map((name) => Object.assign(make("th", name), { scope: "col" })))));
      table.append(make("tbody", "", ...members.map((row) => make("tr", "", ...[...row.cells].slice(1).map((cell) => cell.cloneNode(true))))));
      const box = make("div", "", table);
      box.className = "table";
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${model} on each track of ${family}`);
      parts.push(box);
    }
    const links = make("p", "", Object.assign(make("a", "The plot"), { href }));
    const browser = article.querySelector(".browser");
    if (browser) {
      const texts = Object.assign(make("a", "Examples lost under noise"), { href: `#${browser.closest("section").id}` });
      texts.addEventListener("click", () => browser.filter({ model, family, outcome: "lost" }));
      links.append(" · ", texts);
    }
    const close = Object.assign(make("button", "Close"), { type: "button" });
    close.addEventListener("click", () => (panel.hidden = true));
    links.append(" ", close);
    return [...parts, links];
  };
  matrix.addEventListener("click", (event) => {
    const link = event.target.closest("td.drop a");
    if (!link) return;
    event.preventDefault();
    panel.replaceChildren(...contents(link.dataset.model, link.dataset.family, link.getAttribute("href")));
    panel.hidden = false;
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest" });
  });
}
const unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && (target.closest("details:not([open])") ?? target.querySelector(":scope > details:not([open])"));
  if (folded) {
    folded.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", unfold);
unfold();
