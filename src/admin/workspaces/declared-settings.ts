/** These end when the configuration file no longer declares them. */
export const endingSettings = ["skills", "rules", "savedReplies", "macros", "desk", "singleSignOn"] as const;

/**
 * The names of the settings that the configuration file declares. Before they were stored, only the file could declare
 * the settings that end.
 */
export function declaredSettings(stored: string | null): readonly string[] {
  return stored === null ? endingSettings : (JSON.parse(stored) as readonly string[]);
}
