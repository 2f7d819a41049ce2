/** What no program can be given (external-51). */
import type { Issue } from '../../../../core/plugin.js'
import type { ChildProcess } from './settings.js'

/** What no program can be given: the system ends a text at its first NUL. */
export const faultOfTexts = ({ command, args = [], env = {}, working_dir = '' }: ChildProcess): Issue | undefined => {
  const texts = { command: [command], args, env: Object.values(env), working_dir: [working_dir] }
  const [member] = Object.entries(texts).find(([, values]) => values.some((value) => value.includes('\0'))) ?? []
  return member === undefined ? undefined : { path: `child_process.${member}`, rule: 'must not have a NUL' }
}
