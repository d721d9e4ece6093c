import { spawnSync } from "node:child_process";
import { projectDir } from "./source-tree.ts";

/** `npm run check` refuses subjects of another form than `area: imperative` among the newest commits. */
const commitsRead = 40;
const charactersMax = 72;
const form = /^[a-z0-9][a-z0-9,/-]*: [a-z0-9"`.].*[^.\s]$/;

const log = spawnSync("git", ["log", "--no-merges", `--max-count=${commitsRead}`, "--format=%h %s"], {
  cwd: projectDir,
  encoding: "utf8",
});
if (log.status !== 0) {
  console.log("No commits were checked: this is no checkout of git.");
} else {
  const refused = log.stdout
    .trim()
    .split("\n")
    .filter((line) => {
      const subject = line.slice(line.indexOf(" ") + 1);
      return !form.test(subject) || [...subject].length > charactersMax;
    });
  if (refused.length > 0) {
    console.log(`Write subjects as "area: imperative", in at most ${charactersMax} characters:\n${refused.join("\n")}`);
    process.exitCode = 1;
  }
}
