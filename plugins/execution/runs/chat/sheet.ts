/** What stands on the terminal of a conversation: texts of models stand in, so that they cannot pass for ours. */
import { visibleBlock, type CommandInput } from '../../../../core/plugin.js'

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

export const createSheet = ({ print, write }: Pick<CommandInput, 'print' | 'write'>, indent: number): Sheet => {
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
      print(text)
    },
    say(text) {
      if (text === '') return
      write(`${open ? '' : ' '.repeat(indent)}${visibleBlock(text, indent)}`)
      open = true
    },
  }
}
