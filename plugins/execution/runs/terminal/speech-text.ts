/** What a model says, as text that goes on while it comes. */
import { number, open, optional, parse, string, createFlow, type Infer, type Json } from '../../../../core/plugin.js'

const Spoken = open({
  trace: open({
    kind: open({
      type: string(),
      turn: optional(number()),
      attempt: optional(number()),
      text: optional(string()),
      count: optional(number()),
    }),
  }),
})
type Kind = Infer<typeof Spoken>['trace']['kind']

const keyOf = ({ turn = 1, attempt = 1 }: Kind): string => `${turn}/${attempt}`

const indent = 11
const heading = (name: string): string => `  ${name.padEnd(indent - 2)}`

export interface SpeechText {
  /** True if the frame is of a text and was shown. */
  show(event: string, data: Json): boolean
  /** Ends the line that the text stands in. */
  end(): void
}

/**
 * A text stands in under its heading, so that it cannot pass for a line of ours. Each attempt has a heading, and one
 * whose beginning was not seen begins with dots.
 */
export const createSpeechText = (write: (text: string) => void, columns: () => number): SpeechText => {
  const flow = createFlow(columns, indent)
  /** The turn and attempt whose text stands in the open line; undefined while none is open. */
  let open: string | undefined
  /** The turn and attempt that was seen to begin. */
  let begun: string | undefined
  const end = (): void => {
    if (open !== undefined) write('\n')
    open = undefined
  }
  const say = (kind: Kind): void => {
    const { attempt = 1, text = '' } = kind
    const key = keyOf(kind)
    if (open === '' && attempt === 1) {
      // The line says that the beginning is not shown.
      write(flow.add(' '))
      open = key
    } else if (open !== key) {
      end()
      write(heading(attempt === 1 ? 'says' : 'anew'))
      flow.begin(indent)
      if (begun !== key) write(flow.add('… '))
      open = key
    }
    write(flow.add(text))
  }
  const leaveOut = ({ count = 0 }: Kind): void => {
    if (open === undefined) {
      write(heading('says'))
      flow.begin(indent)
    }
    open ??= ''
    write(flow.add(`[… ${count} pieces are not shown …]`))
  }
  return {
    end,
    show(event, data) {
      const parsed = event === 'trace' ? parse(Spoken, data) : undefined
      if (parsed?.ok !== true) return false
      const { kind } = parsed.value.trace
      if (kind.type === 'model_attempt_started') begun = keyOf(kind)
      if (kind.type === 'model_text_delta') say(kind)
      else if (kind.type === 'model_deltas_dropped') leaveOut(kind)
      else return false
      return true
    },
  }
}
