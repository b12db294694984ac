// The diff: files that load as they come near, viewed marks, and moving about by keys.
import { all, byId, KEYS, post } from "/page.js";

const diff = byId("diff");
const LINE = 20;

// Files of a large diff ask for their rows when they come near, and keep their height until they are there.
const loading = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) load(target);
  },
  { rootMargin: "1500px" },
);
for (const box of all(".later")) {
  box.style.height = `${Number(box.dataset.rows) * LINE}px`;
  loading.observe(box);
}

async function load(box) {
  loading.unobserve(box);
  const answer = await fetch(box.dataset.src);
  if (!answer.ok) return;
  const rows = new DOMParser().parseFromString(await answer.text(), "text/html");
  box.replaceWith(...rows.body.childNodes);
  dispatchEvent(new Event("rows"));
}

byId("load-all")?.addEventListener("click", async (event) => {
  event.target.disabled = true;
  for (const box of all(".later")) await load(box);
  event.target.remove();
});

// More lines around a hunk come from the commit that was saved; they go where the button was.
diff.addEventListener("click", async ({ target }) => {
  if (!target.matches("button.more")) return;
  target.disabled = true;
  const answer = await fetch(target.dataset.src).catch(() => undefined);
  if (!answer?.ok) {
    target.disabled = false;
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  target.closest("tr").replaceWith(...page.querySelectorAll("tr"));
});

// Viewed marks are kept in the clone, for one version of a file; a changed file needs another look.
diff.addEventListener("change", async ({ target }) => {
  if (target.name !== "seen") return;
  const { repo, path, digest, commit } = target.closest(".file").dataset;
  const seen = target.checked;
  showSeen();
  const answer = await post(`/t/${diff.dataset.task}/viewed`, { repo, path, digest, commit, seen }).catch(
    () => undefined,
  );
  if (answer?.ok) return;
  // A mark that nobody has kept must not look as if it were one.
  target.checked = !seen;
  showSeen();
});

function showSeen() {
  for (const box of all("input[name=seen]", diff)) {
    box.closest(".file").toggleAttribute("data-seen", box.checked);
    const item = document.querySelector(`.tree a[href="#${box.closest(".file").id}"]`);
    item.parentElement.classList.toggle("seen", box.checked);
    item.firstElementChild.textContent = box.checked ? "✓" : "○";
  }
  // Some of the files may not be shown here, and count all the same.
  const [seen, total] = [all(".tree li.seen").length, all(".tree li").length];
  byId("seen").value = seen;
  byId("seen-of").textContent = `${seen} of ${total} viewed`;
  const looked = byId("looked");
  if (looked) looked.textContent = `${seen} of ${total}`;
}

/** The line that is current, and the one that a range began with. */
export const place = { row: undefined, from: undefined };

const isShown = (row) => row.checkVisibility();
export const rowsIn = (within) => all("tr.a, tr.r, tr.c", within);

export function goTo(row, extend = false) {
  if (!row) return;
  place.from = extend ? (place.from ?? place.row) : undefined;
  place.row = row;
  for (const one of all("tr.on")) one.classList.remove("on");
  for (const one of range()) one.classList.add("on");
  row.scrollIntoView({ block: "nearest" });
}

/** The chosen rows, all of one file. */
export function range() {
  const { row, from } = place;
  if (!row) return [];
  const rows = rowsIn(row.closest(".file"));
  const [one, other] = [rows.indexOf(from ?? row), rows.indexOf(row)];
  return one < 0 ? [row] : rows.slice(Math.min(one, other), Math.max(one, other) + 1);
}

function step(by, extend) {
  const rows = rowsIn(extend && place.row ? place.row.closest(".file") : diff).filter(isShown);
  goTo(rows[Math.max(0, rows.indexOf(place.row) + by)], extend);
}

function goToFile(by) {
  const files = all(".file");
  const at = place.row ? files.indexOf(place.row.closest(".file")) : by > 0 ? -1 : 0;
  const file = files[Math.min(files.length - 1, Math.max(0, at + by))];
  file?.scrollIntoView({ block: "start" });
  goTo(file && rowsIn(file)[0]);
}

function goToHunk(by) {
  const heads = all("tr.h", diff).filter(isShown);
  const top = place.row?.getBoundingClientRect().top ?? 0;
  const after = heads.filter((row) => row.getBoundingClientRect().top > top + 1);
  const before = heads.filter((row) => row.getBoundingClientRect().top < top - LINE * 1.5);
  goTo((by > 0 ? after[0] : before.at(-1))?.nextElementSibling);
}

Object.assign(KEYS, {
  j: () => step(1, false),
  k: () => step(-1, false),
  ShiftArrowDown: () => step(1, true),
  ShiftArrowUp: () => step(-1, true),
  n: () => goToHunk(1),
  p: () => goToHunk(-1),
  J: () => goToFile(1),
  K: () => goToFile(-1),
  "]": () => {
    const left = all(".file:not([data-seen])");
    const at = place.row ? left.indexOf(place.row.closest(".file")) : -1;
    const file = left[(at + 1) % left.length];
    file?.scrollIntoView({ block: "start" });
    goTo(file && rowsIn(file)[0]);
  },
  e: () => {
    const file = place.row?.closest(".file") ?? diff;
    const buttons = all("button.more", file).filter(isShown);
    const above = (button) => place.row?.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_PRECEDING;
    (buttons.findLast(above) ?? buttons[0])?.click();
  },
  v: () => {
    const file = place.row?.closest(".file") ?? all(".file").find((one) => !one.hasAttribute("data-seen"));
    const rows = file && rowsIn(file);
    if (!place.row && rows) goTo(rows[0]);
    file?.querySelector("[name=seen]").click();
    goToFile(1);
  },
});
