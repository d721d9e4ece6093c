import ICAL from "ical.js";

const textMax = 10_000;
const titles: Readonly<Record<string, string>> = {
  REQUEST: "Invitation",
  CANCEL: "Cancelled",
  REPLY: "Reply to an invitation",
  COUNTER: "Another time proposed",
  PUBLISH: "Appointment",
};

/** An invitation as text: title, time with its zone, place, description. Null: it cannot be read. */
export function invitationText(calendar: string): string | null {
  let event: ICAL.Component | null;
  let method: unknown;
  try {
    const component = new ICAL.Component(ICAL.parse(calendar) as unknown[]);
    method = component.getFirstPropertyValue("method");
    event = component.getFirstSubcomponent("vevent");
  } catch {
    return null;
  }
  if (event === null) return null;
  const value = (name: string): string => String(event.getFirstPropertyValue(name) ?? "").trim();
  const title = titles[typeof method === "string" ? method.toUpperCase() : "PUBLISH"] ?? "Appointment";
  const [start, end] = [timeOf(event, "dtstart"), timeOf(event, "dtend")];
  const lines = [
    `${title}: ${value("summary")}`,
    ...(start === "" ? [] : [`When: ${start}${end === "" ? "" : ` to ${end}`}`]),
    ...(value("location") === "" ? [] : [`Where: ${value("location")}`]),
    ...(value("description") === "" ? [] : ["", value("description")]),
  ];
  return lines.join("\n").slice(0, textMax).toWellFormed();
}

/** Such as `2026-12-01 09:00 Europe/Berlin`. A floating time has no zone, a whole day no time. */
function timeOf(event: ICAL.Component, name: string): string {
  const property = event.getFirstProperty(name);
  const time = property?.getFirstValue();
  if (!(time instanceof ICAL.Time)) return "";
  const shown = time
    .toString()
    .replace("T", " ")
    .replace(/:00Z?$/, "");
  if (time.isDate) return shown;
  const zone = property?.getFirstParameter("tzid") ?? (time.zone?.tzid === "UTC" ? "UTC" : "");
  return `${shown} ${zone}`.trim();
}
