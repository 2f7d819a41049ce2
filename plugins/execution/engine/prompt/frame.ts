/**
 * The frame around a text in a prompt: tags with the name of what stands there. Texts are written by people, models and
 * servers that nobody need trust, so that none may end its frame or begin another one.
 */

/** Frames that no section has. */
export const ownFrames = ['conversation_summary', 'conversation_start'] as const

/** Makes texts safe to stand in frames, all of these names. */
export type Frame = (name: string, text: string) => string

/** Between the bracket and the name a reader overlooks blanks, characters without a shape, and more than one slash. */
const tagsOf = (names: readonly string[]): RegExp =>
  new RegExp(`[<＜﹤‹][\\s\\p{Cf}/]*(?=(?:${names.join('|')})\\b)`, 'giu')

export const createFrame = (names: readonly string[]): Frame => {
  const tags = tagsOf([...names, ...ownFrames])
  return (name, text) => `<${name}>\n${text.replace(tags, (tag) => (tag.includes('/') ? '(/' : '('))}\n</${name}>`
}
