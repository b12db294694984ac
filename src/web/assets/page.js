// The whole enhancement: entering by a link, keys, viewed marks, files that load as they come near. Pages work without it.
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const post = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

// The link's secret is behind `#`: it goes to this page alone, and out of the address bar at once.
if (location.pathname === "/enter" && location.hash.length > 1) {
  const secret = location.hash.slice(1);
  history.replaceState(null, "", "/enter");
  post("/enter", { secret }).then(async (answer) => {
    if (answer.ok) location.replace("/");
    else byId("knock").textContent = await answer.text();
  });
}

const diff = byId("diff");
const files = () => all(".file");

// Files of a large diff: each asks for its rows when it comes near, and keeps its height until they are there.
const LINE = 20;
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
}

byId("load-all")?.addEventListener("click", async (event) => {
  event.target.disabled = true;
  for (const box of all(".later")) await load(box);
  event.target.remove();
});

// Viewed marks are kept by the clone, with what was looked at; another content needs another look.
addEventListener("change", ({ target }) => {
  if (target.name !== "seen") return;
  const { repo, path, digest } = target.closest(".file").dataset;
  target.closest(".file").toggleAttribute("data-seen", target.checked);
  post(`/t/${diff.dataset.task}/viewed`, { repo, path, digest, seen: target.checked });
  showSeen();
});

function showSeen() {
  const boxes = all("input[name=seen]");
  const seen = boxes.filter((box) => box.checked).length;
  byId("seen").value = seen;
  byId("seen-of").textContent = `${seen} of ${boxes.length} viewed`;
  for (const box of boxes) {
    const item = document.querySelector(`.tree a[href="#${box.closest(".file").id}"]`);
    item.parentElement.classList.toggle("seen", box.checked);
    item.firstElementChild.textContent = box.checked ? "✓" : "○";
  }
}

// Keys; none of them while somebody writes.
let current;
const rows = () => all("table.d tr.a, table.d tr.r, table.d tr.c").filter((row) => row.offsetParent);

function goTo(row) {
  if (!row) return;
  current?.classList.remove("on");
  current = row;
  row.classList.add("on");
  row.scrollIntoView({ block: "nearest" });
}

function goToFile(step) {
  const every = files();
  const at = current ? every.indexOf(current.closest(".file")) : -1;
  const file = every[Math.max(0, at + step)];
  file?.scrollIntoView({ block: "start" });
  goTo(file?.querySelector("tr.a, tr.r, tr.c"));
}

function goToHunk(step) {
  const heads = all("table.d tr.h").filter((row) => row.offsetParent);
  const top = current ? current.getBoundingClientRect().top : 0;
  const after = heads.filter((row) => row.getBoundingClientRect().top > top + 1);
  const before = heads.filter((row) => row.getBoundingClientRect().top < top - LINE);
  goTo((step > 0 ? after[0] : before.at(-1))?.nextElementSibling);
}

const KEYS = {
  j: () => goTo(rows()[rows().indexOf(current) + 1]),
  k: () => goTo(rows()[Math.max(0, rows().indexOf(current) - 1)]),
  n: () => goToHunk(1),
  p: () => goToHunk(-1),
  J: () => goToFile(1),
  K: () => goToFile(-1),
  v: () => {
    current?.closest(".file").querySelector("[name=seen]").click();
    goToFile(1);
  },
  "/": () => byId("q").focus(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select"))
    return;
  const act = KEYS[event.key];
  if (!act || (!diff && event.key !== "/")) return;
  event.preventDefault();
  act();
});
