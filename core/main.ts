#!/usr/bin/env node
/** Starts the program: from its files where the build made them of these modules, otherwise from the modules. */
import { openProgram } from './build/program.js'

const { main } = openProgram(process.argv[2]) ?? (await import('./command-line.js'))
main()
