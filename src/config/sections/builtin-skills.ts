import { locales } from "#language/locales.ts";
import type { BuiltinSkill } from "#domain/workspace/skill.ts";

export const builtinDescriptions: Readonly<Record<BuiltinSkill["kind"], string>> = {
  business_hours: "Tells whether somebody of the company's staff is there now, and when next.",
  capture_lead: "Keeps the name, e-mail address or phone number that the customer gives, so that staff can reach them.",
  talk_to_human: "Hands the conversation over to a person, when the customer wants one or needs one.",
};

export const builtinPhrases: Readonly<Record<BuiltinSkill["kind"], readonly string[]>> = {
  business_hours: Object.values(locales).flatMap(({ openingHours }) => openingHours),
  capture_lead: [
    "my email is {email}",
    "my email address is {email}",
    "email me at {email}",
    "reach me at {email}",
    "contact me at {email}",
    "my phone number is {phone}",
    "call me at {phone}",
    "call me on {phone}",
  ],
  // Its phrases are set in `escalation`.
  talk_to_human: [],
};
