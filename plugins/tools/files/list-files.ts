import { object } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { baseField, below, fenceBelow, limitField } from './base.js'
import { excluding, ripgrep } from './ripgrep.js'
import type { FileSurroundings } from './surroundings.js'
import { withFolder } from './workspace.js'

export const listFilesTool = ({ locate }: FileSurroundings): Tool =>
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
        const found = await withFolder(place, {
          use: (folder) =>
            ripgrep({
              args: [
                '--files',
                '--null',
                '--hidden',
                '--no-require-git',
                '--sort=path',
                '--glob',
                '!.git',
                ...excluding(fenceBelow(place)),
              ],
              cwd: folder.outside,
              separator: '\0',
              limit,
              signal: call.signal,
              read: (record) => below(place, record),
            }),
        })
        return { base: place.shown, paths: [...found.items], truncated: found.truncated }
      }),
  })
