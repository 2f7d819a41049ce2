/**
 * The frame around a text in a prompt: tags with the name of what stands there. Texts are written by people, models and
 * servers that nobody need trust, so that none may end its frame or begin another one.
 */

import { frameTags } from '../../../../core/plugin.js'

/** Frames that no section has. */
export const ownFrames = ['conversation_summary', 'conversation_start'] as const

/** Makes texts safe to stand in frames, all of these names. */
export type Frame = (name: string, text: string) => string

export const createFrame = (names: readonly string[]): Frame => {
  const tags = frameTags([...names, ...ownFrames])
  return (name, text) => `<${name}>\n${text.replace(tags, (tag) => (tag.includes('/') ? '(/' : '('))}\n</${name}>`
}
