import { object } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { baseField, limitField } from './base.js'
import { filesBelow } from './files-below.js'
import type { FileSurroundings } from './surroundings.js'

export const listFilesTool = ({ locate, processes }: FileSurroundings): Tool =>
  defineTool({
    name: 'list_files',
    description:
      'Lists the files below a folder of the workspace, sorted by path. Leaves out what ignore files name, and .git.',
    input: object({ base: baseField, limit: limitField(1_000, 10_000) }),
    effect: 'read',
    parallel: true,
    timeout_ms: 10_000,
    sandbox: 'read_only',
    run: ({ base, limit }, call) =>
      answer(async () => {
        const place = await locate(call, base)
        const found = await filesBelow(place, {
          processes,
          args: ['--no-require-git', '--glob', '!.git'],
          limit,
          signal: call.signal,
        })
        return { base: place.shown, paths: [...found.items], truncated: found.truncated }
      }),
  })
