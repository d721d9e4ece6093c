const placeholder = /\{([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,99})\}/g;

/** The names in braces in a template. */
export function placeholdersIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Fills a template's placeholders; undefined when a value is missing. */
export function fill(template: string, value: (name: string) => string | undefined): string | undefined {
  let missing = false;
  const filled = template.replaceAll(placeholder, (_, name: string) => {
    const found = value(name);
    missing ||= found === undefined;
    return found ?? "";
  });
  return missing ? undefined : filled;
}
