import type { Static } from "typebox";
import { Type } from "typebox";
import { agentAddress } from "./automation.ts";
import type { Fail } from "./values.ts";
import { closed, text } from "./values.ts";

export const teamSchema = closed(
  {
    name: text("Name of the team.", 100),
    agents: Type.Optional(
      Type.Array(agentAddress, {
        maxItems: 1_000,
        description:
          "E-mail addresses of its members. Those that no agent has yet join once an agent has them. Default: the members stay as they are.",
      }),
    ),
  },
  "A named set of agents.",
);

export interface FileTeam {
  readonly name: string;
  /** Lower-case addresses. Absent: the members are not the file's. */
  readonly agents?: readonly string[];
}

/** Checks and returns the teams of a workspace. Their form has been checked by the schema. */
export function teamsOf(given: readonly Static<typeof teamSchema>[], fail: Fail): readonly FileTeam[] {
  return given.map(({ name: written, agents }, at) => {
    const name = written.trim();
    if (name === "") fail([at, "name"], "a team needs a name");
    if (given.findIndex((other) => other.name.trim() === name) < at) {
      fail([at, "name"], `two teams are named "${name}"`);
    }
    if (agents === undefined) return { name };
    return { name, agents: [...new Set(agents.map((address) => address.toLowerCase()))].toSorted() };
  });
}
