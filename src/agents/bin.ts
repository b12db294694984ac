import { supervise } from "./supervise.ts";

// biome-ignore lint/style/noProcessEnv: this is the outside of a process
supervise(process.argv[2] ?? "", process.env);
