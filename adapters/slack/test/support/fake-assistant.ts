type Body = Readonly<Record<string, string>>;

/** A thread of the assistant view, as its reader sees it. */
export interface FakeAssistantThread {
  title: string | undefined;
  /** Empty: none is shown. */
  status: string;
}

/** Threads of the assistant view, by channel and time stamp. */
export type FakeAssistantThreads = Map<string, FakeAssistantThread>;

export const assistantKey = (channel = "", ts = ""): string => `${channel}:${ts}`;

/** Any of these scopes permits the call, by Slack's reference; undefined for another method. */
export function assistantScopes(method: string): readonly string[] | undefined {
  if (!method.startsWith("assistant.")) return undefined;
  return method === "assistant.threads.setStatus" ? ["chat:write", "assistant:write"] : ["assistant:write"];
}

/** The error of a call; undefined where Slack takes it. */
export function runAssistantMethod(
  threads: FakeAssistantThreads,
  isChannel: (id: string) => boolean,
  method: string,
  body: Body,
): string | undefined {
  const { channel_id: channel = "", thread_ts: ts = "", title, status } = body;
  const given = method === "assistant.threads.setTitle" ? title : status;
  if (channel === "" || ts === "" || given === undefined || given === "") return "invalid_arguments";
  if (Object.keys(body).some((key) => !/^(?:channel_id|thread_ts|title|status|token)$/.test(key))) {
    return "invalid_arguments";
  }
  if (!isChannel(channel)) return "channel_not_found";
  const thread = threads.get(assistantKey(channel, ts));
  if (thread === undefined) return "invalid_thread_ts";
  if (method === "assistant.threads.setTitle") thread.title = given;
  else if (method === "assistant.threads.setStatus") thread.status = given;
  else return "unknown_method";
  return undefined;
}
