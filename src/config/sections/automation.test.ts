import { describe, expect, it } from "vitest";
import { settingsOf } from "#domain/workspace/settings.ts";
import { readConfigFile } from "#config/file.ts";

const file = (under: string): string => `workspaces:\n  - name: A\n${under.replaceAll(/^(?=.)/gm, "    ")}\n`;
const read = (under: string) => readConfigFile("c.yaml", file(under), { KEY: "k-1" }).workspaces[0];
const rule = (body: string): string => `rules:\n  - name: R\n${body.replaceAll(/^(?=.)/gm, "    ")}`;
const skill = (body: string): string =>
  `skills:\n  - name: s\n    description: d\n${body.replaceAll(/^(?=.)/gm, "    ")}`;

describe("an error in a rule is reported with its line:", () => {
  it.each<[string, string, string]>([
    ["no trigger", rule("when: {}\nthen: [{tag: a}]"), "line 5: when has 0 of message, status"],
    ["two triggers", rule("when: {message: customer, sla: breached}\nthen: [{tag: a}]"), "line 5: when has 2 of"],
    [
      "an unknown trigger",
      rule("when: {mesage: customer}\nthen: [{tag: a}]"),
      "line 5: workspaces.0.rules.0.when.mesage is not a setting; allowed here: message, status",
    ],
    ["no action", rule("when: {message: customer}\nthen: []"), "line 6: workspaces.0.rules.0.then"],
    [
      "two actions in one",
      rule("when: {message: customer}\nthen:\n  - tag: a\n    note: b"),
      "line 7: this has 2 of tag, untag",
    ],
    [
      "a condition that cannot hold",
      rule("when: {status: open}\nif: {words: refund}\nthen: [{tag: a}]"),
      "line 6: words looks at a message",
    ],
    [
      "the confidence of a customer",
      rule("when: {message: customer}\nif: {confidences: low}\nthen: [{tag: a}]"),
      "line 6: only the bot's answers have a confidence",
    ],
    [
      "hours that there are not",
      rule("when: {message: customer}\nif: {business_hours: open}\nthen: [{tag: a}]"),
      "line 6: the workspace has no business_hours",
    ],
    [
      "a phrase without words",
      rule('when: {message: customer}\nif: {words: ["…"]}\nthen: [{tag: a}]'),
      'line 6: "…" has no word',
    ],
    [
      "a status that there is not",
      rule("when: {status: lost}\nthen: [{tag: a}]"),
      "line 5: workspaces.0.rules.0.when.status",
    ],
    [
      "a turn among nobody",
      rule("when: {message: customer}\nthen:\n  - {assign: a@b.c, max_claimed: 3}"),
      "line 7: max_claimed goes with assign: round_robin",
    ],
    [
      "since without minutes",
      rule("when: {message: bot, since: started}\nthen: [{tag: a}]"),
      "line 5: since goes with minutes only",
    ],
    [
      "two rules of one name",
      `${rule("when: {message: bot}\nthen: [{tag: a}]")}\n  - {name: R, when: {message: bot}, then: [{tag: b}]}`,
      'line 7: two rules are named "R"',
    ],
    [
      "an unknown time zone of reports",
      "timezone: Europe/Nowhere",
      'line 3: timezone: "Europe/Nowhere" is no time zone',
    ],
    ["an unknown time zone", "business_hours: {timezone: Europe/Nowhere}", 'line 3: "Europe/Nowhere" is no time zone'],
    [
      "hours that end before they begin",
      'business_hours:\n  timezone: UTC\n  monday: ["17:00-09:00"]',
      'line 5: "17:00-09:00" is no time of opening',
    ],
    [
      "a holiday that there is not",
      'business_hours: {timezone: UTC, holidays: ["2027-02-30"]}',
      '"2027-02-30" is no date',
    ],
  ])("%s", (_what, under, message) => {
    expect(() => read(under)).toThrow(message);
    expect(() => read(under)).toThrow("c.yaml, line ");
  });

  it("a disabled rule is checked, but does nothing", () => {
    const given = rule("enabled: false\nwhen: {message: customer}\nthen: [{tag: a}]");
    const { rules = [] } = read(given) ?? {};
    expect(rules).toMatchObject([{ enabled: false }]);
    expect(settingsOf({ rules }).rules).toEqual([]);
  });
});

describe("an error in a skill is reported with its line:", () => {
  it.each<[string, string, string]>([
    ["neither request nor use", "skills:\n  - name: s", "line 4: the skill s has neither request nor use"],
    [
      "no description",
      "skills:\n  - name: s\n    request: {url: https://x.example/}",
      "line 4: the skill s needs a description",
    ],
    [
      "an argument as the host",
      skill('request: {url: "https://{h}.example/"}\narguments: {h: {description: d}}'),
      "line 6: an argument cannot be part of the host",
    ],
    [
      "a password in the address",
      skill('request: {url: "https://a:b@x.example/"}'),
      "line 6: a user name or password in the address",
    ],
    [
      "an unknown argument",
      skill('request: {url: "https://x.example/{id}"}'),
      "line 6: {id} is not an argument of this skill",
    ],
    [
      "the user of nobody",
      skill('request: {url: "https://x.example/{user.id}"}'),
      "{user.id} is known for verified customers only",
    ],
    ["a body of GET", skill('request: {url: "https://x.example/", body: {a: 1}}'), "line 6: a GET request has no body"],
    [
      "a wrong shape",
      skill('request: {url: "https://x.example/{a}"}\narguments: {a: {description: d, shape: "+#"}}'),
      'line 7: "+#": use # @ or *',
    ],
    [
      "a phrase of nothing but arguments",
      skill('request: {url: "https://x.example/{a}"}\narguments: {a: {description: d}}\nphrases: ["{a}"]'),
      'line 8: "{a}" has no word besides arguments',
    ],
    [
      "an argument that cannot be found",
      skill('request: {url: "https://x.example/{a}"}\narguments: {a: {description: d}}\nphrases: [status]'),
      "line 7: not every phrase has {a}",
    ],
    [
      "the name of the search",
      "skills: [{name: knowledge_search, use: talk_to_human}]",
      "line 3: knowledge_search is the search of the documents",
    ],
    [
      "hours that there are not",
      "skills: [{name: h, use: business_hours}]",
      "line 3: business_hours needs the workspace's setting business_hours",
    ],
    [
      "a variable that is not set",
      skill('request: {url: "https://x.example/", headers: {a: "${NONE}"}}'),
      "line 6: the environment has no variable NONE",
    ],
    [
      "a header that breaks out",
      skill('request: {url: "https://x.example/", headers: {a: "x\\r\\nb: c"}}'),
      "line 6: workspaces.0.skills.0.request.headers",
    ],
  ])("%s", (_what, under, message) => {
    expect(() => read(under)).toThrow(message);
  });

  it("headers can hold variables of the environment", () => {
    const given = read(skill('request: {url: "https://x.example/", headers: {authorization: "Bearer ${KEY}"}}'));
    expect(given?.skills).toMatchObject([{ kind: "lookup", request: expect.stringContaining("Bearer k-1") }]);
  });
});
