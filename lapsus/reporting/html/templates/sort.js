for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const { sort } = row.cells[column].dataset;
    return sort === undefined || sort === "" ? null : heads[column].dataset.kind === "number" ? Number(sort) : sort;
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const initial = head.dataset.kind === "number" ? "descending" : "ascending";
      const opposite = initial === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === initial ? opposite : initial;
      heads.forEach((cell) => cell.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [key(a, column), key(b, column)];
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (typeof x === "number" ? x - y : x.localeCompare(y, undefined, { numeric: true }));
      });
      body.append(...rows);
    });
  });
}
addEventListener("beforeprint", () => document.querySelectorAll("details:not(.large)").forEach((details) => (details.open = true)));
