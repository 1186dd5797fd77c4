#!/usr/bin/env node
import '../dist/generator/cli/main.js';
