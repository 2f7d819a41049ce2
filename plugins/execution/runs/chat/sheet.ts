/** What stands on the terminal of a conversation: texts of models stand in, so that they cannot pass for ours. */
import { createFlow, folded, type CommandInput } from '../../../../core/plugin.js'

export interface Sheet {
  /** A line or block of ours. */
  line(text: string): void
  /** As many of its rows as are told; how many are left out then. */
  block(text: string, most: { readonly rows: number; readonly shown: number }): number
  /** A line that stands there until something else does, in place of the one before; none while a text goes on. */
  note(text: string): void
  /** Columns that a line has. */
  columns(): number
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

interface SheetParts extends Pick<CommandInput, 'print' | 'write' | 'columns'> {
  /** Draws a note on a terminal; an empty one takes it away. */
  readonly note?: (text: string) => void
}

export const createSheet = ({ print, write, columns, note = () => {} }: SheetParts, indent: number): Sheet => {
  const flow = createFlow(columns, indent)
  let [open, noted] = [false, false]
  const clear = (): void => {
    if (noted) note('')
    noted = false
  }
  const end = (): void => {
    clear()
    if (open) write('\n')
    open = false
  }
  const rowsOf = (text: string): string[] => text.split('\n').flatMap((line) => foldedLine(line, columns()).split('\n'))
  return {
    end,
    columns,
    note(text) {
      if (text === '') return clear()
      if (open) return
      noted = true
      note(text)
    },
    isOpen: () => open,
    line(text) {
      end()
      print(rowsOf(text).join('\n'))
    },
    block(text, { rows: most, shown }) {
      const rows = rowsOf(text)
      const isShort = rows.length <= most || columns() === Infinity
      end()
      print((isShort ? rows : rows.slice(0, shown)).join('\n'))
      return isShort ? 0 : rows.length - shown
    },
    say(text) {
      if (text === '') return
      clear()
      if (!open) {
        write(' '.repeat(indent))
        flow.begin(indent)
      }
      write(flow.add(text))
      open = true
    },
  }
}
