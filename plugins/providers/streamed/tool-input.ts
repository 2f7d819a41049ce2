/** The input of a tool call, of the text that the model wrote. */
import { isModest, type Json } from '../../../core/plugin.js'

/** Servers send an empty text for a call without parameters. `unparsed` is a text that is no JSON, or too deep. */
export const toolInput = (text: string): { input: Json; unparsed?: string } => {
  if (!isModest(text)) return { input: {}, unparsed: text }
  try {
    const input: Json = JSON.parse(text.trim() === '' ? '{}' : text)
    return { input }
  } catch {
    return { input: {}, unparsed: text }
  }
}
