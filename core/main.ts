#!/usr/bin/env node
/** Starts the program: from its files where the build made them of these modules, otherwise from the modules. */
import { openProgram } from './build/program.js'

const { program, damaged } = openProgram(process.argv[2])
if (damaged !== undefined) {
  const { printError } = await import('./cli/terminal.js')
  const { visibleLine } = await import('./base/text/visible.js')
  const again = 'npm run build, or an installation anew, makes it again'
  printError(`holdfast: ${visibleLine(damaged)} is damaged or gone, so this starts slower, from the modules: ${again}.`)
}
const { main } = program ?? (await import('./command-line.js'))
main()
