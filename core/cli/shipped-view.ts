import type { Command } from '../plugin/command.js'
import type { AnyPlugin } from '../plugin/contract.js'
import type { Declarations } from '../state/inspect/verify.js'

/** The shipped plugins as the command line sees them. They are imported when they are asked for. */
export interface ShippedView {
  /** Their sub-commands, or those that begin with this word; no plugin is imported for them. */
  commands(word?: string): Promise<readonly Command[]>
  plugins(): Promise<readonly AnyPlugin[]>
  /** The collections and streams that they declare. */
  declarations(): Promise<Declarations>
}
