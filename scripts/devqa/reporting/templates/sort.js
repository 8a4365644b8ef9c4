"use strict";
// Tables: a click on a column's head sorts (undefined values stay at the end), the field above a long one filters.
(function () {
  function value(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value === undefined) return cell.textContent.trim();
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  }

  function compare(a, b) {
    if (a === null || b === null) return 0;
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  }

  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const numeric = head.classList.contains("figure");
        const current = head.getAttribute("aria-sort");
        const descending = current ? current === "ascending" : numeric && !head.classList.contains("rank");
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows].sort((one, other) => {
          const a = value(one, column), b = value(other, column);
          if (a === null || b === null) return (a === null) - (b === null);
          return descending ? compare(b, a) : compare(a, b);
        });
        table.tBodies[0].append(...rows);
      });
    });
  });

  document.querySelectorAll("label.narrow").forEach((label) => {
    const field = label.querySelector("input");
    const note = label.querySelector(".found");
    const rows = [...label.nextElementSibling.querySelector("table").tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, number) => {
        row.hidden = !words.every((word) => texts[number].includes(word));
        shown += !row.hidden;
      });
      note.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
    label.hidden = false;
  });
})();
