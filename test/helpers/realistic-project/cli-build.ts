import type { Story } from "./story.ts";

export const CLI: Story[] = [
  {
    key: "cli-json",
    area: "cli",
    title: "Machine-readable output for every command",
    objective: "Scripts can use every command without parsing text.",
    status: "done",
    touched: ["src/cli/output.ts", "src/cli/main.ts", "README.md"],
    decisions: [
      [
        "One JSON object per command on stdout, with a schema number",
        "Lines of JSON were cut by pagers and nobody noticed",
        "src/cli/output.ts",
      ],
      [
        "Progress and warnings go to stderr only",
        "A warning in the middle broke a customer's jq",
        "src/cli/output.ts",
        "src/cli/progress-bar.ts",
      ],
    ],
    findings: [
      ["medium", "src/cli/output.ts", "Dates are printed in the local time zone", "Always ISO with Z"],
    ],
    handoffs: [["All 31 commands have --json", "Describe the schema in the API page", ["src/cli/output.ts"]]],
  },
  {
    key: "cli-args",
    area: "cli",
    title: "Reject unknown options",
    objective: "A misspelt option is an error with a suggestion.",
    status: "done",
    touched: ["src/cli/args.ts", "src/cli/main.ts"],
    decisions: [
      [
        "Suggestions use edit distance two and the same first letter",
        "Distance three suggested nonsense",
        "src/cli/args.ts",
      ],
      [
        "Exit code 64 for usage errors",
        "Scripts tell their own mistakes from ours",
        "src/cli/args.ts",
        "src/cli/main.ts",
      ],
    ],
    findings: [["low", "src/cli/args.ts", "Options after -- are checked too", "Stop at --"]],
    handoffs: [["Unknown options are refused", "Stop checking at --", ["src/cli/args.ts"]]],
  },
  {
    key: "cli-progress",
    area: "cli",
    title: "A progress bar that does not flicker",
    objective: "Progress in the terminal is calm, and absent where output is not a terminal.",
    status: "done",
    touched: ["src/cli/progress-bar.ts", "src/cli/output.ts"],
    decisions: [
      [
        "Redraw at most ten times a second, and only what changed",
        "Redrawing per chunk flickered over ssh",
        "src/cli/progress-bar.ts",
      ],
      [
        "The estimate is a median of the last 20 chunks",
        "A mean jumps with every stalled chunk, and the percentage seemed to go backwards",
        "src/cli/progress-bar.ts",
      ],
    ],
    findings: [
      [
        "low",
        "src/cli/progress-bar.ts",
        "Wide characters in file names break the line",
        "Measure the display width",
      ],
    ],
    handoffs: [["The bar is calm over ssh", "Measure wide characters", ["src/cli/progress-bar.ts"]]],
  },
  {
    key: "cli-config",
    area: "cli",
    title: "One configuration file with profiles",
    objective: "A user with two accounts switches between them with one option.",
    status: "done",
    touched: ["src/cli/config.ts", "src/cli/credentials.ts"],
    decisions: [
      [
        "TOML in the XDG config directory, the old JSON file is read once and migrated",
        "Comments are what people want most in a configuration",
        "src/cli/config.ts",
        "package.json",
      ],
      [
        "Environment beats file, option beats environment",
        "That is what every other tool does",
        "src/cli/config.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/cli/config.ts",
        "A broken file is replaced by the defaults",
        "Refuse and name the line",
      ],
    ],
    handoffs: [["Profiles work", "Refuse a broken file instead of replacing it", ["src/cli/config.ts"]]],
  },
  {
    key: "cli-completions",
    area: "cli",
    title: "Shell completions for bash, zsh and fish",
    objective: "Tab completes commands, options and remote paths.",
    status: "done",
    touched: ["src/cli/completions.ts", "README.md"],
    decisions: [
      [
        "Completions are generated from the same table as the help",
        "A hand-written list was outdated within a week",
        "src/cli/completions.ts",
      ],
    ],
    findings: [
      [
        "low",
        "src/cli/completions.ts",
        "Remote paths with spaces are completed without quotes",
        "Quote for each shell",
      ],
    ],
    handoffs: [["All three shells complete commands", "Quote remote paths", ["src/cli/completions.ts"]]],
  },
  {
    key: "cli-keychain",
    area: "cli",
    title: "Keep credentials in the Windows credential manager",
    objective: "`harbor login` leaves no token in a plain file on Windows.",
    status: "open",
    depends: ["auth-device"],
    touched: ["src/cli/credentials.ts"],
  },
  {
    key: "cli-quiet",
    area: "cli",
    title: "Quiet mode for cron jobs",
    objective: "With --quiet a command that succeeds prints nothing, neither progress nor warnings.",
    status: "open",
    touched: ["src/cli/output.ts", "src/cli/progress-bar.ts"],
  },
  {
    key: "cli-upload",
    area: "cli",
    title: "harbor put uploads whole folders",
    objective: "A folder with 100,000 files uploads with one command and can be continued.",
    status: "active",
    depends: ["upl-resume"],
    touched: ["src/cli/put.ts", "src/uploads/resume.ts"],
    decisions: [
      [
        "Small files are packed into batches of 8 MiB",
        "One request per file took a day",
        "src/cli/put.ts",
        "src/uploads/batch.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/cli/put.ts",
        "Symbolic links are followed and can loop",
        "Skip them unless asked",
        "open",
      ],
    ],
    handoffs: [["Folders upload in batches", "Skip symbolic links", ["src/cli/put.ts"]]],
  },
];

export const BUILD: Story[] = [
  {
    key: "bld-bundle",
    area: "build",
    title: "Bundle the client into one file",
    objective: "The client installs without node_modules and starts in 60 ms.",
    status: "done",
    touched: ["scripts/build.mjs", "package.json", "tsconfig.json"],
    decisions: [
      [
        "Rolldown instead of esbuild",
        "Lazy chunks for commands halve the start time",
        "scripts/build.mjs",
        "package.json",
      ],
      [
        "Native modules stay outside of the bundle",
        "Their binaries are found by relative path",
        "scripts/build.mjs",
      ],
    ],
    findings: [
      [
        "medium",
        "scripts/build.mjs",
        "Source maps are shipped and double the package",
        "Keep them out of the tarball",
      ],
    ],
    handoffs: [["The bundle starts in 58 ms", "Leave source maps out", ["scripts/build.mjs"]]],
  },
  {
    key: "bld-ci",
    area: "build",
    title: "Run the tests on three systems",
    objective: "A change is tested on Linux, macOS and Windows before it is merged.",
    status: "done",
    touched: [".ci/run", ".ci/matrix.yaml", "package.json"],
    decisions: [
      ["One script, .ci/run, is all the CI knows", "Three copies of the steps had drifted apart", ".ci/run"],
      [
        "Flaky tests are quarantined by name, with an owner and a date",
        "Rerunning everything hid two real races",
        ".ci/quarantine.txt",
      ],
    ],
    findings: [
      [
        "medium",
        ".ci/run",
        "The Windows job passes when the test runner is not found",
        "Fail when no test ran",
      ],
    ],
    handoffs: [["All three systems run", "Fail when no test ran", [".ci/run"]]],
  },
  {
    key: "bld-release",
    area: "build",
    title: "Releases from a tag",
    objective: "Pushing a tag publishes packages and the changelog without a human hand.",
    status: "done",
    touched: ["scripts/release.mjs", "CHANGELOG.md", "package.json"],
    decisions: [
      [
        "The changelog is written by hand, one file per change",
        "Commit subjects are not what users want to read",
        "scripts/release.mjs",
        "CHANGELOG.md",
      ],
      [
        "Packages are published with provenance from CI only",
        "A laptop once published an unmerged branch",
        "scripts/release.mjs",
      ],
    ],
    findings: [
      [
        "high",
        "scripts/release.mjs",
        "A release that fails halfway leaves a tag without packages",
        "Publish first as next, then move the tag",
      ],
    ],
    handoffs: [["Three releases went out from tags", "Publish under next first", ["scripts/release.mjs"]]],
  },
  {
    key: "bld-size",
    area: "build",
    title: "Keep the package small",
    objective: "A pull request that adds more than 50 kB says so.",
    status: "open",
    depends: ["bld-bundle"],
    touched: ["scripts/bundle-size.mjs", "scripts/build.mjs"],
  },
  {
    key: "bld-docker",
    area: "build",
    title: "A container image for servers",
    objective: "The sync server runs as a container of less than 100 MB without root.",
    status: "done",
    touched: ["Dockerfile", ".ci/run"],
    decisions: [
      [
        "Distroless base image with the bundle only",
        "A shell in the image was flagged by every scanner",
        "Dockerfile",
      ],
    ],
    findings: [
      [
        "medium",
        "Dockerfile",
        "The image runs as uid 0 when the volume is owned by root",
        "Refuse to start as root",
      ],
    ],
    handoffs: [["The image has 71 MB", "Refuse to start as root", ["Dockerfile"]]],
  },
  {
    key: "bld-flaky",
    area: "build",
    title: "Find out why tests fail at random",
    objective: "A test that fails without a change is named within a day.",
    status: "active",
    labels: ["reliability"],
    touched: [".ci/run", ".ci/quarantine.txt"],
    decisions: [
      [
        "Every test file runs 50 times at night, with the order shuffled",
        "Most races show within 30 runs",
        ".ci/nightly",
      ],
    ],
    findings: [["low", ".ci/nightly", "The report lists passes too", "Only failures", "open"]],
    handoffs: [["Nightly runs found the watcher race", "Report only failures", [".ci/nightly"]]],
  },
  {
    key: "bld-node22",
    area: "build",
    title: "Move to the next Node version",
    objective: "Client and server run on Node 22, and 20 until its end.",
    status: "done",
    touched: ["package.json", "tsconfig.json", ".ci/matrix.yaml", "Dockerfile", "README.md"],
    decisions: [
      ["Both versions in CI until April", "Two customers pin 20", ".ci/matrix.yaml", "package.json"],
    ],
    findings: [
      ["low", "tsconfig.json", "The types are newer than the oldest supported version", "Pin the types"],
    ],
    handoffs: [["Both versions pass", "Drop 20 in April", ["package.json", ".ci/matrix.yaml"]]],
  },
];
