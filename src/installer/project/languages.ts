import { checksOf, matchesName, type ProjectLook, type Proposed } from "./kinds.ts";

type Kind = (look: ProjectLook) => Proposed | undefined;

const guess = (
  tool: string,
  from: string,
  found: Record<string, string | undefined>,
  setup?: string,
): Proposed => {
  const proposed = { tool, from, checks: checksOf(found), explicit: false };
  return setup === undefined ? proposed : { ...proposed, setup };
};

const rust: Kind = (look) => {
  const text = look.read("Cargo.toml");
  if (text === undefined) return undefined;
  return guess("cargo", "Cargo.toml", {
    test: /^\[workspace\]/m.test(text) ? "cargo test --workspace" : "cargo test",
  });
};

const go: Kind = (look) => {
  if (look.names.has("go.mod")) return guess("go", "go.mod", { test: "go test ./...", lint: "go vet ./..." });
  const work = look.read("go.work");
  if (work === undefined) return undefined;
  const modules = [...work.matchAll(/^\s*(?:use\s+)?(\.\/[\w./-]+)\s*$/gm)].map(([, path]) => `${path}/...`);
  return modules.length === 0 ? undefined : guess("go", "go.work", { test: `go test ${modules.join(" ")}` });
};

/** How commands of this project's own environment are run, and how that comes into being. */
const PYTHON_TOOLS: readonly { file: string; section?: RegExp; run: string; setup: string }[] = [
  { file: "uv.lock", run: "uv run ", setup: "uv sync --locked --all-extras" },
  { file: "poetry.lock", section: /^\[tool\.poetry\]/m, run: "poetry run ", setup: "poetry install" },
  { file: "pdm.lock", section: /^\[tool\.pdm/m, run: "pdm run ", setup: "pdm install" },
  { file: "Pipfile", run: "pipenv run ", setup: "pipenv sync --dev" },
];

const python: Kind = (look) => {
  const from = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "tox.ini"].find(
    (name) => look.names.has(name),
  );
  if (from === undefined) return undefined;
  const project = look.read("pyproject.toml") ?? "";
  const tool = PYTHON_TOOLS.find(({ file, section }) => look.names.has(file) || section?.test(project));
  const run = tool?.run ?? "";
  const lint =
    /^\[tool\.ruff/m.test(project) || matchesName(look, /^\.?ruff\.toml$/)
      ? `${run}ruff check --no-fix .`
      : undefined;
  const test = pythonTest(look, project, run);
  // Tests often have a group of their own; where groups exclude each other, the project knows which ones it wants.
  const groups =
    tool?.file === "uv.lock" && /^\[dependency-groups\]/m.test(project) && !/^conflicts\s*=/m.test(project);
  return guess("python", from, { test, lint }, groups ? `${tool.setup} --all-groups` : tool?.setup);
};

function pythonTest(look: ProjectLook, project: string, run: string): string | undefined {
  const said = [
    project,
    ...["setup.cfg", "tox.ini", "requirements-dev.txt", "Pipfile"].map((name) => look.read(name)),
  ];
  const tests = ["tests", "test"].find((folder) => look.list(folder).some((name) => name.endsWith(".py")));
  const pytest =
    look.names.has("pytest.ini") ||
    look.names.has("conftest.py") ||
    said.some((text) => text?.includes("pytest"));
  if (look.names.has("manage.py") && !pytest)
    return `${run || "python3 "}manage.py test`.replace("run manage", "run python manage");
  if (pytest || tests !== undefined)
    return pytest || run !== "" ? `${run}python -m pytest` : "python3 -m unittest discover";
  if (look.names.has("noxfile.py")) return `${run}nox`;
  return look.names.has("tox.ini") ? `${run}tox` : undefined;
}

const ruby: Kind = (look) => {
  const text = look.read("Gemfile");
  if (text === undefined) return undefined;
  const gems = [text, look.read("Gemfile.lock") ?? ""].join("\n");
  const rake = look.names.has("Rakefile") ? (look.read("Rakefile") ?? "") : "";
  const test =
    look.names.has("spec") && /rspec/.test(gems + [...look.names].join(" ") + rake)
      ? "bundle exec rspec"
      : look.list("bin").includes("rails")
        ? "bin/rails test"
        : look.names.has("Rakefile")
          ? /TestTask|task :test\b|task test\b/.test(rake)
            ? "bundle exec rake test"
            : "bundle exec rake"
          : undefined;
  const lint = look.names.has(".rubocop.yml") && /rubocop/.test(gems) ? "bundle exec rubocop" : undefined;
  return guess("bundler", "Gemfile", { test, lint }, "bundle install");
};

const java: Kind = (look) => {
  if (look.names.has("pom.xml"))
    return guess("maven", "pom.xml", {
      test: `${look.names.has("mvnw") ? "./mvnw" : "mvn"} --batch-mode test`,
    });
  const from = matchesName(look, /^(?:build|settings)\.gradle(?:\.kts)?$/);
  if (from === undefined) return undefined;
  return guess("gradle", from, { test: `${look.names.has("gradlew") ? "./gradlew" : "gradle"} test` });
};

/** Built where nothing of it shows up in the tree: a check that leaves files behind counts for no gate. */
const aside = (commands: string) => `d=$(mktemp -d) && ${commands}; r=$?; rm -rf "$d"; exit $r`;
const CMAKE = aside('cmake -S . -B "$d" && cmake --build "$d" && ctest --test-dir "$d" --output-on-failure');
const MESON = aside('meson setup "$d" && meson test -C "$d" --print-errorlogs');

const c: Kind = (look) => {
  if (look.names.has("CMakeLists.txt")) return guess("cmake", "CMakeLists.txt", { test: CMAKE });
  return look.names.has("meson.build") ? guess("meson", "meson.build", { test: MESON }) : undefined;
};

/** One file tells the language, and the language has one usual command. */
const SIMPLE: readonly { tool: string; file: RegExp; test: string; setup?: string }[] = [
  { tool: "dotnet", file: /\.(?:sln|slnx|csproj|fsproj)$/, test: "dotnet test" },
  { tool: "mix", file: /^mix\.exs$/, test: "mix test", setup: "mix deps.get" },
  { tool: "swift", file: /^Package\.swift$/, test: "swift test" },
  { tool: "dart", file: /^pubspec\.yaml$/, test: "dart test", setup: "dart pub get" },
  { tool: "sbt", file: /^build\.sbt$/, test: "sbt test" },
  { tool: "zig", file: /^build\.zig$/, test: "zig build test" },
  { tool: "lein", file: /^project\.clj$/, test: "lein test" },
  { tool: "mkdocs", file: /^mkdocs\.ya?ml$/, test: 'mkdocs build --strict --site-dir "$(mktemp -d)"' },
];

const simple = SIMPLE.map(
  ({ tool, file, test, setup }): Kind =>
    (look) => {
      const from = matchesName(look, file);
      return from === undefined ? undefined : guess(tool, from, { test }, setup);
    },
);

export const LANGUAGES: readonly Kind[] = [rust, go, python, ruby, java, c, ...simple];
