// A review that is being written: findings on lines wait in this browser until all of them are sent with one verdict.
import { goTo, place, range, rowsIn } from "/diff.js";
import { all, byId, KEYS } from "/page.js";

const diff = byId("diff");
const form = byId("verdict");
const NAME = `pawl:review:${diff.dataset.task}`;
const drafts = JSON.parse(localStorage.getItem(NAME) ?? "[]");

function keep() {
  const worth = drafts.filter((one) => one.text.trim() !== "");
  if (worth.length > 0) localStorage.setItem(NAME, JSON.stringify(worth));
  else localStorage.removeItem(NAME);
  showCount(worth);
}

function showCount(worth) {
  byId("unsent").textContent =
    worth.length === 0 ? "" : `${worth.length} finding${worth.length === 1 ? "" : "s"} of yours not yet sent`;
  byId("drafts").replaceChildren(
    ...worth.map((draft) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = "#";
      link.textContent = `${draft.repo}: ${draft.file}${draft.line ? `:${draft.line}` : ""}`;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        boxOf(draft)?.querySelector("textarea").focus();
      });
      // Its own box may be folded away with its file, or have no line to stand below.
      item.append(link, ` ${draft.severity}: ${draft.text.split("\n")[0]} `, removeButton(draft));
      return item;
    }),
  );
  const wanted = form.elements.verdict.value;
  if (worth.length > 0 && wanted === "pass") form.elements.verdict.value = "pass_with_findings";
}

function removeButton(draft) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Remove";
  button.addEventListener("click", () => remove(draft));
  return button;
}

const boxOf = (draft) => diff.querySelector(`tr.draft[data-draft="${draft.id}"]`);

/** The line of the new file that a finding is anchored to; a removed line has none, so the next one that stayed. */
function lineOf(rows) {
  const first = rows.find((row) => row.dataset.line) ?? rows[0];
  for (let row = first; row; row = row.nextElementSibling)
    if (row.dataset?.line) return Number(row.dataset.line);
  return undefined;
}

const codeOf = (rows) =>
  rows
    .map(
      (row) =>
        `${row.classList[0] === "r" ? "-" : row.classList[0] === "a" ? "+" : " "}${row.dataset.text ?? row.lastElementChild.textContent}`,
    )
    .join("\n");

function comment() {
  const rows = range();
  if (rows.length === 0) return;
  const file = rows[0].closest(".file");
  const known = drafts.find((one) => rowOf(one) === rows.at(-1));
  const draft = known ?? {
    id: crypto.randomUUID(),
    row: rows.at(-1).id,
    repo: file.dataset.repo,
    file: file.dataset.path,
    line: lineOf(rows),
    // One line that is still there speaks for itself; others are quoted.
    quote: rows.length > 1 || rows[0].classList.contains("r") ? codeOf(rows) : "",
    severity: "medium",
    text: "",
  };
  if (!known) drafts.push(draft);
  open(draft).querySelector("textarea").focus();
}

/** The line that it was written on. In a diff that was saved later, the name of that row may belong to another file. */
function rowOf({ row: id, repo, file, line }) {
  const row = byId(id);
  const isOf = ({ dataset }) => dataset.repo === repo && dataset.path === file;
  if (row && isOf(row.closest(".file"))) return row;
  return all(".file").find(isOf)?.querySelector(`tr[data-line="${line}"]`);
}

function open(draft) {
  const there = boxOf(draft);
  if (there) return there;
  const row = rowOf(draft);
  if (!row) return undefined;
  const box = byId("draft-form").content.firstElementChild.cloneNode(true);
  box.dataset.draft = draft.id;
  box.firstElementChild.colSpan = row.children.length;
  box.querySelector(".where").textContent = `${draft.file}${draft.line ? `:${draft.line}` : ""}`;
  const [text, severity] = [box.querySelector("textarea"), box.querySelector("select")];
  text.value = draft.text;
  severity.value = draft.severity;
  box.addEventListener("input", () => {
    draft.text = text.value;
    draft.severity = severity.value;
    keep();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) done();
  });
  const done = () => {
    if (draft.text.trim() === "") remove(draft);
    goTo(row);
    text.blur();
  };
  box.querySelector(".done").addEventListener("click", done);
  box.querySelector(".remove").addEventListener("click", () => remove(draft));
  row.after(box);
  return box;
}

function remove(draft) {
  drafts.splice(drafts.indexOf(draft), 1);
  boxOf(draft)?.remove();
  keep();
}

const openAll = () => {
  for (const draft of drafts) open(draft);
};

/** In the order of the page, not in that of the writing; what has lost its line comes first. */
const inOrder = (one, other) => {
  const [row, next] = [rowOf(one), rowOf(other)];
  if (!row || !next) return row ? 1 : -1;
  return row.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
};

form.addEventListener("submit", () => {
  form.elements.findings.value = JSON.stringify(
    drafts
      .filter((one) => one.text.trim() !== "")
      .sort(inOrder)
      .map(({ repo, file, line, severity, text, quote }) => ({
        ...{ repo, file, line, severity },
        text: quote === "" ? text : `${text}\n\n\`\`\`\n${quote}\n\`\`\``,
      })),
  );
});

// By mouse: a line's number opens a finding on it, a drag over numbers or Shift chooses several lines.
const numberOf = (target) => target.closest?.("td.l")?.parentElement;
diff.addEventListener("mousedown", (event) => {
  const row = numberOf(event.target);
  if (!row?.id || event.button !== 0) return;
  event.preventDefault();
  goTo(row, event.shiftKey && place.row?.closest(".file") === row.closest(".file"));
});
diff.addEventListener("mouseover", (event) => {
  const row = numberOf(event.target);
  if (row?.id && event.buttons === 1 && place.row?.closest(".file") === row.closest(".file")) goTo(row, true);
});
diff.addEventListener("mouseup", (event) => {
  if (numberOf(event.target)?.id && place.row) comment();
});

addEventListener("rows", openAll);
Object.assign(KEYS, { c: comment, f: () => form.elements.summary.focus() });
openAll();
showCount(drafts);
for (const file of all(".file")) file.toggleAttribute("data-rows", rowsIn(file).length > 0);
