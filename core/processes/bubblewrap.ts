/** The program that builds walls around others, where there is one that works. */
import { isThere } from '../state/disk/outside.js'
import { createCapture } from './capture.js'
import type { Supervised } from './contract.js'

/** No folder that a command could write to. */
const usualPrograms = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

/** Looks for it, and whether it works with these arguments, which end with a command that does nothing. */
export const findBubblewrap = async (
  supervised: Supervised,
  trial: readonly string[],
  programs: readonly string[] = usualPrograms,
): Promise<{ readonly program: string } | { readonly reason: string }> => {
  const program = programs.find(isThere)
  if (program === undefined) return { reason: 'bubblewrap is not installed' }
  const reason = await complaintOf(supervised, [program, ...trial])
  return reason === undefined ? { program } : { reason }
}

/** What it says when it does not work; undefined if it does. */
const complaintOf = async (supervised: Supervised, run: readonly string[]): Promise<string | undefined> => {
  const started = await supervised.start({ run, folder: '/', environment: { PATH: '/usr/bin:/bin' } })
  const said = createCapture(1_024)
  started.stdout.resume()
  started.stderr.on('data', said.add)
  const { code } = await started.exited
  await started.stop(0)
  await started.letGo()
  if (code === 0) return undefined
  return said.read().text.trim().split('\n', 1).join('') || 'bubblewrap does not run here'
}
