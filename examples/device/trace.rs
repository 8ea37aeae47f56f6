//! A plugin of QEMU (`-plugin FILE.so,to=PATH`) that writes what a machine does: a number of 64 bits for each instruction, in front of
//! it, and one for each access to memory. The lower half is the address. The upper half is 0 for an instruction, whether or not its
//! condition holds, 1 for a load and 2 for a store. `cargo xtask device` compiles and loads it.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fs::File,
    io::{BufWriter, Write},
    ptr,
    sync::Mutex,
};

/// The version of the interface.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

static TRACE: Mutex<Option<BufWriter<File>>> = Mutex::new(None);

/// A block of translated code, and an instruction, which belong to QEMU.
type Block = *mut c_void;
type Instruction = *mut c_void;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: extern "C" fn(u64, Block));
    fn qemu_plugin_tb_n_insns(block: Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: Block, index: usize) -> Instruction;
    fn qemu_plugin_insn_vaddr(instruction: Instruction) -> u64;
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: Instruction,
        call: extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        instruction: Instruction,
        call: extern "C" fn(c_uint, u32, u64, *mut c_void),
        flags: c_int,
        accesses: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_mem_is_store(access: u32) -> bool;
    fn qemu_plugin_register_atexit_cb(
        id: u64,
        call: extern "C" fn(u64, *mut c_void),
        data: *mut c_void,
    );
}

/// Opens the file and asks for every block.
#[unsafe(no_mangle)]
extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    if count != 1 {
        return 1;
    }
    // SAFETY: QEMU gives `count` strings.
    let argument = unsafe { CStr::from_ptr(*arguments) }.to_string_lossy().into_owned();
    let Some(Ok(file)) = argument.strip_prefix("to=").map(File::create) else { return 1 };
    *TRACE.lock().unwrap() = Some(BufWriter::new(file));
    // SAFETY: QEMU gave the id.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_atexit_cb(id, ended, ptr::null_mut());
    }
    0
}

extern "C" fn translated(_: u64, block: Block) {
    // SAFETY: the block is valid during the call, and so are its instructions.
    unsafe {
        for index in 0..qemu_plugin_tb_n_insns(block) {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            let address = qemu_plugin_insn_vaddr(instruction) as usize;
            let data = ptr::without_provenance_mut(address);
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, 0, data);
            qemu_plugin_register_vcpu_mem_cb(instruction, accessed, 0, 3, ptr::null_mut());
        }
    }
}

extern "C" fn executed(_: c_uint, address: *mut c_void) {
    put(0, address.addr() as u64);
}

extern "C" fn accessed(_: c_uint, access: u32, address: u64, _: *mut c_void) {
    // SAFETY: QEMU gave the description of the access.
    put(if unsafe { qemu_plugin_mem_is_store(access) } { 2 } else { 1 }, address);
}

fn put(kind: u64, address: u64) {
    if let Some(file) = &mut *TRACE.lock().unwrap() {
        file.write_all(&(kind << 32 | address & 0xffff_ffff).to_le_bytes()).expect("the trace");
    }
}

extern "C" fn ended(_: u64, _: *mut c_void) {
    // Dropping it writes what is left.
    *TRACE.lock().unwrap() = None;
}
