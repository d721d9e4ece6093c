import { signal } from "@preact/signals";
import type { Colleague, MacroView, SavedReply } from "#http/inbox/wire.ts";
import { api } from "./api.ts";

/** The agents, saved replies and macros of the workspace; empty until they are loaded. */
export function createTeam() {
  const agents = signal<readonly Colleague[]>([]);
  const savedReplies = signal<readonly SavedReply[]>([]);
  const macros = signal<readonly MacroView[]>([]);
  // After an error the earlier ones stay, and the next call tries again.
  const loadAgents = (): Promise<void> => api.agents().then((got) => void (agents.value = got), ignore);
  const loadSavedReplies = (): Promise<void> =>
    api.savedReplies().then((got) => void (savedReplies.value = got), ignore);
  const loadMacros = (): Promise<void> => api.macros().then((got) => void (macros.value = got), ignore);
  return {
    agents,
    savedReplies,
    macros,
    loadAgents,
    loadMacros,
    load: () => Promise.all([loadAgents(), loadSavedReplies(), loadMacros()]),
  };
}

const ignore = (): void => undefined;
