/** Words as Slack writes them: it takes what stands between `<` and `>` for mentions and links (slack-25). */

const written: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Words that mention nobody and are shown as they are. */
export const escapeText = (text: string): string => text.replace(/[&<>]/gu, (sign) => written[sign] ?? sign)

const meant: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }
/** What a person typed. */
export const unescapeText = (text: string): string => text.replace(/&(?:amp|lt|gt);/gu, (name) => meant[name] ?? name)
