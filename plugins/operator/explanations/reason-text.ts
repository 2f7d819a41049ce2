/** A reason as text for terminals. */
import { array, integer, open, optional, showTime, string, visibleLine, type Infer } from '../../../core/plugin.js'

/** A reason, as far as it is shown. */
export const ShownReason = open({
  text: string(),
  since_ms: optional(integer()),
  until_ms: optional(integer()),
  commands: optional(array(string())),
})
/** The value form of `ShownReason`. */
export type ShownReason = Infer<typeof ShownReason>

/** A sentence with the moments that it is about. */
export const timedText = (text: string, { since_ms, until_ms }: Pick<ShownReason, 'since_ms' | 'until_ms'>): string => {
  const times = [
    ...(since_ms === undefined ? [] : [`since ${showTime(since_ms)}`]),
    ...(until_ms === undefined ? [] : [`until ${showTime(until_ms)}`]),
  ]
  return `${visibleLine(text)}${times.length === 0 ? '' : ` (${times.join(', ')})`}`
}

/** Its sentence, then the lines that would move it: so many of them. */
export const reasonLines = (reason: ShownReason, mostCommands = Infinity): readonly string[] => [
  `- ${timedText(reason.text, reason)}`,
  ...(reason.commands ?? []).slice(0, mostCommands).map((line) => `    ${visibleLine(line)}`),
]
