import { requireWorkspace } from "#admin/api-keys.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import { UsageError, readArguments } from "../terminal/arguments.ts";
import type { Command } from "../command.ts";
import { withServices } from "../with-services.ts";
import { dim } from "../terminal/output.ts";

/** Answers a question as the bot would, without a conversation. */
export const ask: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.required("workspace");
  const text = given.words.join(" ").trim();
  if (text === "") throw new UsageError('use: parley ask --workspace W "question"');
  return withServices(config, async ({ store, answerer }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const settings = await settingsIn(store.read, workspace.id);
    const began = performance.now();
    const answer = await answerer.answer(
      {
        workspaceId: workspace.id,
        text,
        history: [],
        strictness: settings.strictness,
        topK: 5,
        audience: [],
        settings,
        whenModelFails: "throw",
      },
      new AbortController().signal,
    );
    output.result(
      {
        answer: answer.text,
        sources: answer.sources,
        skills_fired: answer.skillsFired,
        confidence: answer.confidence,
        latency_ms: Math.round(performance.now() - began),
        tokens_used: answer.tokensUsed,
      },
      [
        answer.text,
        "",
        dim(`confidence: ${answer.confidence}`),
        ...answer.sources.map(({ title, url }, i) => dim(`[${i + 1}] ${title}${url === "" ? "" : ` — ${url}`}`)),
      ],
    );
    return 0;
  });
};
