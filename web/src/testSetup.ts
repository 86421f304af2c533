// Prepares every test file.
import { configure } from "@testing-library/react";

// A page that waits for something gets it at once, unless the machine is busy.
configure({ asyncUtilTimeout: 20_000 });
