/** Markdown that shows these characters and formats none of them. */
export const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>()#+!|~&-]/gu, String.raw`\$&`);
