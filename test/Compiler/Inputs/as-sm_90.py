# as-sm_90.py FROM TO: an artifact whose PTX for a newer chip claims to be for sm_90, which the simulator has. What only the newer
# chip has is refused there.
import json
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import artifact

sections = artifact.sections(pathlib.Path(sys.argv[1]).read_bytes())
for name, data in sections.items():
    if name.endswith(".ptx"):
        sections[name], lines = re.subn(rb"^\.target sm_1[02]0a?$", b".target sm_90", data, flags=re.MULTILINE)
        assert lines == 1, name
manifest = json.loads(sections["manifest"])
for program in manifest["programs"]:
    if program["driver"] == "cuda":
        program["requires"] = {"sm": 90}
sections["manifest"] = json.dumps(manifest).encode()
pathlib.Path(sys.argv[2]).write_bytes(artifact.write(sections))
