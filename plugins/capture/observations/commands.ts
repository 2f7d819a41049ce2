import type { Command } from '../../../core/plugin.js'
import { sourceCommands } from './sources/commands.js'

export const commands: readonly Command[] = [...sourceCommands]
