// The newest git that the distribution has the source of, built once into the cache of the tests: what is new in git (the
// reftable format, hooks in the configuration) cannot be tried with the git of a stable release. The mirror is the one
// that this machine's own package manager uses.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { step } from "./install-if-needed.mjs";

/** Since this version git runs hooks from its configuration. */
const WANTED = [2, 54];

/** Where each distribution keeps what its next release is made of. */
const NEWEST_SUITE = { debian: "sid", ubuntu: "devel" };

/** Everything that no test of ours needs, and that would need other libraries; nothing is optimised, to be built soon. */
const OPTIONS = [
  ...["CURL", "PERL", "PYTHON", "GETTEXT", "TCLTK", "EXPAT", "OPENSSL", "RUST", "INSTALL_HARDLINKS"].map(
    (name) => `NO_${name}=1`,
  ),
  ...["CFLAGS=-O0", "RUNTIME_PREFIX=1", "SKIP_DASHED_BUILT_INS=1"],
];

/** What building needs: a file or program of each, with the package that has it. */
const NEEDED = { gcc: "gcc", make: "make", xz: "xz-utils" };
const HEADERS = { "/usr/include/zlib.h": "zlib1g-dev", "/usr/include/stdio.h": "libc6-dev" };

const cache = () =>
  process.env.PAWL_TEST_PROGRAMS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pawl-test-programs");

function versionOf(program) {
  const said = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout ?? "";
  return (/(\d+)\.(\d+)/.exec(said) ?? []).slice(1).map(Number);
}

function isNewEnough(program) {
  const [major = 0, minor = 0] = versionOf(program);
  return major > WANTED[0] || (major === WANTED[0] && minor >= WANTED[1]);
}

const said = (command, args, options = {}) =>
  spawnSync(command, args, { encoding: "utf8", ...options }).stdout ?? "";

/** Makes sure that there is one; `install` brings packages of the system, where that can be done. */
export function buildNewerGit(isThere, install) {
  const folder = join(cache(), "git");
  if (isNewEnough("git") || isNewEnough(join(folder, "bin/git"))) return;
  const missing = [
    ...Object.keys(NEEDED).filter((program) => !isThere(program)),
    ...Object.keys(HEADERS).filter((header) => !existsSync(header)),
  ];
  if (missing.length > 0) install(missing.map((one) => NEEDED[one] ?? HEADERS[one]));
  const beside = `${folder}.${process.pid}`;
  mkdirSync(beside, { recursive: true });
  try {
    const why = fetchSource(beside) ?? compile(beside);
    if (why === undefined) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(join(beside, "built"), folder);
    } else process.stderr.write(`NOT RUN: what needs git ${WANTED.join(".")} or newer: ${why}\n`);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** With lists of its own, so that nothing of the system's package manager changes. Says why it could not be done. */
function fetchSource(folder) {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  const value = (name) => new RegExp(`^${name}="?([^"\n]*)`, "m").exec(release)?.[1] ?? "";
  const suite = NEWEST_SUITE[value("ID")];
  const indexes = suite ? said("apt-get", ["update", "--print-uris"]) : "";
  const mirror = new RegExp(`'([^']*)/dists/${value("VERSION_CODENAME")}/`).exec(indexes)?.[1];
  if (!mirror) return "this system's package manager has no source of it.";
  for (const name of ["lists/partial", "archives/partial"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "sources.list"), `deb-src ${mirror} ${suite} main\n`);
  writeFileSync(
    join(folder, "apt.conf"),
    [
      ["Dir::State::lists", join(folder, "lists")],
      ["Dir::Cache", folder],
      ["Dir::Etc::sourcelist", join(folder, "sources.list")],
      ["Dir::Etc::sourceparts", "-"],
      // The folder is this user's own; apt would fetch as a user who cannot write there.
      ["APT::Sandbox::User", "root"],
    ]
      .map(([key, text]) => `${key} "${text}";\n`)
      .join(""),
  );
  const env = { ...process.env, APT_CONFIG: join(folder, "apt.conf") };
  const apt = (...args) => step("the source of a newer git", "apt-get", args, folder, env);
  return apt("update") && apt("source", "--download-only", "git")
    ? undefined
    : "its source could not be fetched.";
}

function compile(folder) {
  const source = join(folder, "source");
  const archive = readdirSync(folder).find((name) => /^git_.*\.orig\.tar/.test(name));
  mkdirSync(source);
  const make = [
    "-s",
    `-j${availableParallelism()}`,
    ...OPTIONS,
    `prefix=${join(folder, "built")}`,
    "install",
  ];
  const done =
    archive !== undefined &&
    step("unpack git", "tar", ["-xf", join(folder, archive), "-C", source, "--strip-components=1"]) &&
    step("build git, which takes about two minutes", "make", make, source) &&
    isNewEnough(join(folder, "built/bin/git"));
  return done ? undefined : "it could not be built here.";
}
