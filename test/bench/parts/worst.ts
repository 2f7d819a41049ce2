/** The worst text for each place that takes text. */
import { rmSync } from 'node:fs'
import { startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { longestOther, send as sendWorst, worstFlags, worstTexts } from '../../whole/worst-texts.js'

/** The longest that another request waits while the daemon works on the worst text for each place. */
const measure = async ({ note }: Bench): Promise<void> => {
  const [root, workspace] = [temporaryRoot(), temporaryRoot()]
  const daemon = await startDaemon(root, ['--workspace-root', workspace, ...worstFlags])
  let longest = 0
  for (const [n, { prepare, act }] of worstTexts.entries()) {
    const target = { url: daemon.url, workspace, session: `worst-${n}` }
    await sendWorst(target, 'POST', '/v1/sessions', { session_id: target.session })
    await prepare?.(target)
    longest = Math.max(longest, await longestOther(daemon.url, () => act(target)))
  }
  note('worst texts, another request meanwhile, longest', 'ms', 'less', longest)
  await daemon.stop()
  for (const folder of [root, workspace]) rmSync(folder, { recursive: true })
}

export const worst: Part = { name: 'worst', measure }
