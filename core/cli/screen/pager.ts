/** Text that is longer than the terminal, shown page by page as `git` and `man` do. */
import { spawn } from 'node:child_process'
import type { Environment } from '../../base/config.js'
import { visible } from '../../base/text/visible.js'
import { rowsIn } from './folded.js'

/** Lines that a text fills on a terminal of this width. */
const linesOf = (text: string, columns: number): number =>
  text.split('\n').reduce((sum, line) => sum + rowsIn(line, columns).length, 0)

export interface Screen {
  readonly rows: number
  readonly columns: number
}
export const isLonger = (text: string, { rows, columns }: Screen): boolean => linesOf(visible(text), columns) >= rows

/** The person's pager; without a wish of theirs `less`, which leaves short texts and the screen alone. */
export const pagerOf = ({ PAGER, LESS }: Environment): string =>
  PAGER !== undefined && PAGER !== '' ? PAGER : LESS === undefined ? 'less -FX' : 'less'

/** True once the person has left the pager; false if there is none. */
export const page = (text: string, pager: string): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', pager], { stdio: ['pipe', 'inherit', 'inherit'] })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code !== 127 && code !== 126))
    // Who leaves the pager early has seen enough.
    child.stdin.on('error', () => {})
    child.stdin.end(`${visible(text)}\n`)
  })
