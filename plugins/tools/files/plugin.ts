import { Host, Processes, definePlugin } from '../../../core/plugin.js'
import { AssetNormalisers } from '../../media/assets/contract.js'
import { CompletionChecks } from '../../execution/runs/contract.js'
import { ToolRegistry, Tools } from '../../execution/tools/contract.js'
import { applyPatchTool } from './apply-patch.js'
import { workspaceFileCheck } from './completion-check.js'
import { editFileTool } from './edit-file.js'
import { globSearchTool } from './glob-search.js'
import { grepSearchTool } from './grep-search.js'
import { listFilesTool } from './list-files.js'
import { readFileTool } from './read-file.js'
import { createSurroundings } from './surroundings.js'
import { writeFileTool } from './write-file.js'

const tools = [readFileTool, writeFileTool, editFileTool, applyPatchTool, listFilesTool, globSearchTool, grepSearchTool]

export default definePlugin({
  id: 'files',
  version: '1.0.0',
  api: 1,
  summary: 'Tools that read, search and change files of the workspace.',
  needs: { host: Host, processes: Processes, registry: ToolRegistry },
  register(ctx, { host, processes, registry }) {
    ctx.contribute(
      CompletionChecks,
      workspaceFileCheck(() => registry.workspace, host.stateRoot),
    )
    const surroundings = createSurroundings(host.stateRoot, processes, ctx.view(AssetNormalisers))
    ctx.contribute(Tools, ...tools.map((tool) => tool(surroundings)))
  },
})
