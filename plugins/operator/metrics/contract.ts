/** Metrics as text, for plugins that tell some of them on a route of their own. Rules: docs/rules/metrics.md. */

/** All that is told under one name, and the media type of the text. */
export { familyText, textType } from './text.js'
