import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { AllowPrivate } from "#outbound/addresses.ts";
import { parseRange } from "#outbound/addresses.ts";
import type { FileChannel, FileErrorLine } from "./errors.ts";
import { UnreadableFile, schemaErrors } from "./errors.ts";
import { allowedAt, describe } from "./positions.ts";
import { appliedFileSchema, appliedWorkspaceSchema, channelSchema, configFileSchema } from "./schema.ts";
import { tagOf } from "./sections/audiences.ts";
import { channelsWith } from "#channels/catalog.ts";
import { isTimezone } from "#domain/reporting/local-time.ts";
import { hoursOf, noTimezone, rulesOf } from "./sections/automation.ts";
import { identityKeysOf } from "./sections/identity.ts";
import { singleSignOnOf } from "./sections/single-sign-on.ts";
import { macrosOf } from "./sections/macros.ts";
import { skillsOf } from "./sections/skills.ts";
import { agentsOf, teamsOf } from "./sections/people.ts";
import type { Fail } from "./sections/values.ts";
import { listOf } from "./sections/values.ts";
import type { ConfigSource } from "./source.ts";
import { createConfigSource } from "./source.ts";
import { fillVariables } from "./variables.ts";
import type { FileWorkspace } from "./workspace.ts";
import { workspaceOf } from "./workspace.ts";

export interface FileConfig {
  readonly workspaces: readonly FileWorkspace[];
  /** Private addresses that may be reached; absent: none. */
  readonly allowPrivate?: AllowPrivate;
}

/**
 * Parses and checks the file. Throws {@link UnreadableFile} with all errors, their lines and what is allowed instead.
 * `needs` "outbound": the caller uses no workspaces. If a variable that only they refer to is unset, none are returned.
 * "applied": a file for `config apply`, which may have more.
 */
export function readConfigFile(
  file: string,
  content: string,
  env: Readonly<Record<string, string | undefined>>,
  needs: "all" | "outbound" | "applied" = "all",
): FileConfig {
  const source = createConfigSource(file, content);
  if (source.errors.length > 0) throw new UnreadableFile(file, source.errors);
  const unset = fillVariables(source.document, env);
  const skipsWorkspaces = needs === "outbound" && unset.some(({ section }) => section !== "outbound");
  for (const { name, offset, section } of unset) {
    if (needs === "outbound" && section !== "outbound") continue;
    const message = `the environment has no variable ${name}: set it, or write the value here`;
    source.report({ line: source.lineOf(offset), message });
  }
  const value: unknown = source.document.toJS() ?? {};
  const unsetLines = new Set(unset.map(({ offset }) => source.lineOf(offset)));
  const schema = needs === "applied" ? appliedFileSchema : configFileSchema;
  const invalid = invalidSettings(source, schema, value);
  // The value of a missing variable is unknown, so its line has no other error.
  const reported = invalid.filter(({ error }) => !unsetLines.has(error.line));
  if (reported.length > 0) {
    const isValid = (path: readonly string[]): boolean =>
      !invalid.some((each) => path.every((key, i) => each.path[i] === key));
    const errors = [...source.errors, ...reported.map(({ error }) => error)];
    throw new UnreadableFile(file, errors, validChannels(source, value, isValid));
  }
  if (invalid.length > 0 && !skipsWorkspaces) throw new UnreadableFile(file, source.errors);
  const { workspaces = [], outbound } = value as Static<typeof appliedFileSchema>;
  const read = (skipsWorkspaces ? [] : workspaces).map((_, index) => readWorkspace(source, workspaces, index));
  const allowPrivate = outbound?.allow_private ?? false;
  for (const [i, range] of (typeof allowPrivate === "boolean" ? [] : allowPrivate).entries()) {
    if (isRange(range)) continue;
    const message = `"${range}" is neither an address nor a range of addresses such as 10.0.0.0/8`;
    source.report(source.errorAt(["outbound", "allow_private", String(i)], message));
  }
  const declared = read.flatMap(({ channels }) => channels);
  if (source.errors.length > 0) throw new UnreadableFile(file, source.errors, declared);
  return { workspaces: read, allowPrivate };
}

/** The names of the file's workspaces, as far as it can be read. */
export function namesOfWorkspaces(
  content: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { document } = createConfigSource("", content);
  fillVariables(document, env);
  const { workspaces } = (document.errors.length > 0 ? {} : (document.toJS() ?? {})) as {
    readonly workspaces?: unknown;
  };
  return (Array.isArray(workspaces) ? workspaces : []).flatMap((workspace: { readonly name?: unknown } | null) =>
    typeof workspace?.name === "string" ? [workspace.name] : [],
  );
}

interface InvalidSetting {
  readonly path: readonly string[];
  readonly error: FileErrorLine;
}

function invalidSettings(source: ConfigSource, schema: TSchema, value: unknown): readonly InvalidSetting[] {
  return schemaErrors(schema, value).map(({ path: keys, message, unknown: unknownKey }) => {
    const path = unknownKey === undefined ? keys : [...keys, unknownKey];
    const name = path.join(".") || "the file";
    const text =
      unknownKey === undefined
        ? `${name} ${message}${describe(schema, keys)}`
        : isAppliedOnly(path)
          ? `${name} is read by "parley config apply" alone: move it to a file of its own`
          : `${name} is not a setting; ${allowedAt(schema, keys)}`;
    return { path, error: source.errorAt(path, text) };
  });
}

/** Whether an unknown key is one of a workspace in a file for `config apply`. */
const isAppliedOnly = ([section, , key = "", ...more]: readonly string[]): boolean =>
  section === "workspaces" && more.length === 0 && Object.hasOwn(appliedWorkspaceSchema.properties, key);

type GivenWorkspace = Static<typeof appliedWorkspaceSchema>;

/** Checks what the schema cannot, and reports it. */
function readWorkspace(source: ConfigSource, workspaces: readonly GivenWorkspace[], index: number): FileWorkspace {
  const given = workspaces[index];
  if (given === undefined) throw new RangeError(`no workspace ${index}`);
  const pathOf = (...keys: readonly string[]): readonly string[] => ["workspaces", String(index), ...keys];
  const failIn =
    (setting: string): Fail =>
    (keys, message) => {
      throw source.fileErrorAt(pathOf(setting, ...keys.map(String)), message);
    };
  const channels = (given.channels ?? []).map((channel, i) => channelOf(source, channel, index, i));
  for (const { name, errorAt } of channels.filter(
    (each, i) => channels.findIndex((other) => other.name === each.name) < i,
  )) {
    source.report(...errorAt("name", `two channels of this workspace are named ${name}`).errors);
  }
  const tags = Object.keys(given.audiences ?? {});
  for (const tag of tags) {
    // Two rules for a tag would show its documents to customers who fit only one of them.
    if (tags.find((other) => tagOf(other) === tagOf(tag)) === tag) continue;
    source.report(
      source.errorAt(pathOf("audiences", tag), `the tag ${tag} has two rules; capitals do not distinguish tags`),
    );
  }
  if (workspaces.findIndex(({ name }) => name === given.name) < index) {
    source.report(source.errorAt(pathOf("name"), `two workspaces are named ${given.name}`));
  }
  if (given.desk !== undefined) {
    const { kind, account } = given.desk;
    if (channels.find(({ name }) => name === account)?.channel !== kind) {
      const message = `no channel of this workspace is named ${account} and is on ${kind}`;
      source.report(source.errorAt(pathOf("desk", "account"), message));
    }
    reportTeamTags(source, given.desk.team_channels ?? [], pathOf);
  }
  reportPaused(source, given, pathOf);
  if (given.timezone !== undefined && !isTimezone(given.timezone)) {
    source.report(source.errorAt(pathOf("timezone"), `timezone: ${noTimezone(given.timezone)}`));
  }
  const { business_hours: hours, identity_public_keys: keys, single_sign_on: provider, macros } = given;
  const businessHours =
    hours === undefined ? undefined : source.attempt(() => hoursOf(hours, failIn("business_hours")), undefined);
  const identityPublicKeys =
    keys === undefined ? undefined : source.attempt(() => identityKeysOf(keys, failIn("identity_public_keys")), []);
  const workspace = workspaceOf(given, channels);
  return {
    ...workspace,
    settings: {
      ...workspace.settings,
      ...(businessHours === undefined ? {} : { businessHours }),
      ...(identityPublicKeys === undefined ? {} : { identityPublicKeys }),
      ...(macros === undefined ? {} : { macros: source.attempt(() => macrosOf(macros, failIn("macros")), []) }),
    },
    skills: source.attempt(() => skillsOf(given.skills ?? [], hours !== undefined, failIn("skills")), []),
    singleSignOn:
      provider === undefined ? null : source.attempt(() => singleSignOnOf(provider, failIn("single_sign_on")), null),
    rules: source.attempt(() => rulesOf(given.rules ?? [], hours !== undefined, failIn("rules")), []),
    agents: source.attempt(() => agentsOf(given.agents ?? [], failIn("agents")), []),
    teams: source.attempt(() => teamsOf(given.teams ?? [], failIn("teams")), []),
  };
}

/** Reports names of paused channels that are unknown, and the desk's channel, which cannot be paused. */
function reportPaused(
  source: ConfigSource,
  { paused_channels: paused = [], channels = [], desk }: GivenWorkspace,
  pathOf: (...keys: readonly string[]) => readonly string[],
): void {
  const known: readonly string[] = [...channels.map(({ name }) => name), ...channelsWith("chat")];
  for (const [i, name] of paused.entries()) {
    const report = (message: string) => source.report(source.errorAt(pathOf("paused_channels", String(i)), message));
    if (!known.includes(name)) report(`no channel is named ${name}; use ${known.join(", ")}`);
    if (name === desk?.account) report(`the agents' desk is on ${name}, so it cannot be paused`);
  }
}

/** Reports tags of the desk's teams that no conversation can have, or that decide nothing. */
function reportTeamTags(
  source: ConfigSource,
  teams: NonNullable<NonNullable<GivenWorkspace["desk"]>["team_channels"]>,
  pathOf: (...keys: readonly string[]) => readonly string[],
): void {
  const named = new Set<string>();
  for (const [i, team] of teams.entries()) {
    const tags = (listOf(team.tags) ?? []).map(tagOf);
    for (const stored of tags) {
      const report = (message: string) =>
        source.report(source.errorAt(pathOf("desk", "team_channels", String(i), "tags"), message));
      if (stored === "") report("a tag needs a letter");
      else if (named.has(stored)) report(`the tag ${stored} has a channel already, and the first one counts`);
    }
    for (const tag of tags) named.add(tag);
  }
}

function channelOf(
  source: ConfigSource,
  { name, channel, enabled = true, ...config }: Static<typeof channelSchema>,
  workspace: number,
  index: number,
): FileChannel {
  const path = ["workspaces", String(workspace), "channels", String(index)];
  return {
    name,
    channel,
    enabled,
    config,
    errorAt: (setting, message) => source.fileErrorAt(setting === undefined ? path : [...path, setting], message),
  };
}

/** The valid channels of a file with errors, so that their adapters can check them too. */
function validChannels(
  source: ConfigSource,
  value: unknown,
  isValid: (path: readonly string[]) => boolean,
): readonly FileChannel[] {
  const { workspaces } = value as { readonly workspaces?: unknown };
  return (Array.isArray(workspaces) ? workspaces : []).flatMap(
    (workspace: { readonly channels?: unknown } | null, index) => {
      const channels = workspace?.channels;
      return (Array.isArray(channels) ? channels : []).flatMap((channel: unknown, i) =>
        isValid(["workspaces", String(index), "channels", String(i)]) && Value.Check(channelSchema, channel)
          ? [channelOf(source, channel, index, i)]
          : [],
      );
    },
  );
}

function isRange(range: string): boolean {
  try {
    parseRange(range);
    return true;
  } catch {
    return false;
  }
}
