/** What stands on the terminal of a conversation: texts of models stand in, so that they cannot pass for ours. */
import { createFlow, folded, type CommandInput } from '../../../../core/plugin.js'

export interface Sheet {
  /** A line or block of ours. */
  line(text: string): void
  /** A piece of a text of somebody else, which goes on where the piece before ended. */
  say(text: string): void
  /** Ends a text. */
  end(): void
  /** True while a text may go on. */
  isOpen(): boolean
}

/** Lines of ours go on four columns behind where they begin. */
const foldedLine = (line: string, columns: number): string =>
  folded(line, columns, line.length - line.trimStart().length + 4)

export const createSheet = (
  { print, write, columns }: Pick<CommandInput, 'print' | 'write' | 'columns'>,
  indent: number,
): Sheet => {
  const flow = createFlow(columns, indent)
  let open = false
  const end = (): void => {
    if (open) write('\n')
    open = false
  }
  return {
    end,
    isOpen: () => open,
    line(text) {
      end()
      print(
        text
          .split('\n')
          .map((line) => foldedLine(line, columns()))
          .join('\n'),
      )
    },
    say(text) {
      if (text === '') return
      if (!open) {
        write(' '.repeat(indent))
        flow.begin(indent)
      }
      write(flow.add(text))
      open = true
    },
  }
}
