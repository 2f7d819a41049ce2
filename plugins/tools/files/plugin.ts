import { Host, definePlugin } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { WorkspaceFiles } from './contract.js'
import { editFileTool } from './edit-file.js'
import { globSearchTool } from './glob-search.js'
import { grepSearchTool } from './grep-search.js'
import { listFilesTool } from './list-files.js'
import { readFileTool } from './read-file.js'
import { createWorkspaceFiles } from './look.js'
import { createSurroundings } from './surroundings.js'
import { writeFileTool } from './write-file.js'

const tools = [readFileTool, writeFileTool, editFileTool, listFilesTool, globSearchTool, grepSearchTool]

export default definePlugin({
  id: 'files',
  version: '1.0.0',
  api: 1,
  summary: 'Tools that read, search and change files of the workspace.',
  needs: { host: Host },
  provides: [WorkspaceFiles],
  register(ctx, { host }) {
    ctx.provide(WorkspaceFiles, createWorkspaceFiles(host.stateRoot))
    const surroundings = createSurroundings(host.stateRoot)
    ctx.contribute(Tools, ...tools.map((tool) => tool(surroundings)))
  },
})
